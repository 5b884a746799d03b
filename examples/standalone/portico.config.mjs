// What assistants find beyond the tables. Read by `portico start` from the folder that it is started in.
export function customize(agent) {
  agent
    .customizeCollection('suppliers', (suppliers) =>
      suppliers
        .addField('delivers', {
          columnType: 'Enum',
          enumValues: ['fast', 'slowly'],
          dependencies: ['lead_time_days'],
          getValues: (records) => records.map((record) => (record.lead_time_days <= 7 ? 'fast' : 'slowly')),
        })
        .addSegment('Without contract', { field: 'under_contract', operator: 'Equal', value: false })
        .removeField('phone'),
    )
    .addChart('Suppliers by country', async (context, result) => {
      const found = await context
        .collection('suppliers')
        .aggregate({}, { operation: 'Count', groups: [{ field: 'country' }] });
      return result.leaderboard(Object.fromEntries(found.map(({ group, value }) => [group.country, value])));
    });
}
