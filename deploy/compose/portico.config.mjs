// What assistants find beyond the tables.
export function customize(agent) {
  agent.customizeCollection('repairs', (repairs) =>
    repairs
      .importField('frame_number', { path: 'bicycle:frame_number', readonly: true })
      .addSegment('Waiting', { field: 'collected_on', operator: 'Blank' })
      .addAction('Hand over', {
        scope: 'Single',
        form: [{ label: 'Price', type: 'Number', isRequired: true, widget: 'NumberInput', min: 0 }],
        async execute(context, result) {
          const today = new Date().toISOString().slice(0, 10);
          await context.collection.update(context.filter, { collected_on: today, price: context.formValues.Price });
          return result.success(`Collected on ${today}`);
        },
      }),
  );
}
