// The workflows of the demo shop. They combine automatic steps with steps for people.
import type { EngineAgent } from 'portico';

export function addDemoWorkflows(agent: EngineAgent): void {
  agent
    .addWorkflow({
      name: 'Take back an order',
      collection: 'orders',
      description:
        'An order that was delivered comes back: the parcel is checked, and the order is marked as returned.',
      steps: [
        {
          id: 'look',
          type: 'read-record',
          title: 'Look at the order',
          fields: ['number', 'status', 'total', 'customer:email'],
          next: 'delivered',
        },
        {
          id: 'delivered',
          type: 'condition',
          title: 'Was it delivered?',
          options: [
            {
              id: 'yes',
              label: 'Delivered',
              when: { field: 'status', operator: 'Equal', value: 'delivered' },
              next: 'check',
            },
            { id: 'no', label: 'Not delivered', next: 'explain' },
          ],
        },
        {
          id: 'check',
          type: 'guidance',
          title: 'Check the parcel',
          text: 'Look at what came back of {{steps.look.number}}, which cost {{steps.look.total}}, and say in what state it is.',
          inputs: [{ name: 'state', label: 'State', answer: { type: 'enum', options: ['as new', 'used', 'damaged'] } }],
          next: 'mark',
        },
        {
          id: 'mark',
          type: 'update-record',
          title: 'Mark it as returned',
          values: { status: 'returned', note: 'Came back {{steps.check.state}}' },
        },
        {
          id: 'explain',
          type: 'guidance',
          title: 'Tell the customer',
          text: '{{steps.look.number}} is {{steps.look.status}} and cannot come back yet. Write to {{steps.look.customer:email}}.',
        },
      ],
    })
    .addWorkflow({
      name: 'Restock a product',
      collection: 'products',
      description: 'Finds the supplier of a product and asks a person to order it there.',
      steps: [
        {
          id: 'supplier',
          type: 'load-related-record',
          title: 'Find the supplier',
          relation: 'supplier',
          next: 'contact',
          otherwise: 'find',
        },
        { id: 'contact', type: 'read-record', record: 'supplier', fields: ['name', 'email'], next: 'order' },
        {
          id: 'order',
          type: 'guidance',
          title: 'Order it',
          text: 'Order {{record.name}} ({{record.sku}}) from {{steps.contact.name}}, {{steps.contact.email}}.',
          inputs: [{ name: 'quantity', label: 'How many', answer: { type: 'number', min: 1, max: 10_000 } }],
        },
        { id: 'find', type: 'guidance', title: 'Find a supplier', text: '{{record.name}} has no supplier: find one.' },
      ],
    });
}
