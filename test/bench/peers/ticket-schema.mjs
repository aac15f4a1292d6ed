// The JSON schema by which both peers of the ticket benchmark validate a push, and their response.
const uuid = { type: 'string', format: 'uuid' };
const flow = {
  type: 'object',
  required: ['ticketNumber', 'updatedAt'],
  properties: {
    ticketNumber: { type: 'string', minLength: 1, maxLength: 255 },
    updatedAt: { type: 'string', format: 'date-time' },
  },
};
const material = {
  type: 'object',
  required: ['id', 'name', 'quantity', 'unitOfMeasure'],
  properties: {
    id: uuid,
    name: { type: 'string', maxLength: 255 },
    quantity: { type: 'number' },
    unitPriceCents: { type: 'number' },
    unitOfMeasure: { enum: ['Ton', 'Gallon', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter', 'Item'] },
  },
};
const body = {
  type: 'object',
  required: ['siteId', 'materials', 'inboundFlow'],
  properties: {
    siteId: uuid,
    materials: { type: 'array', minItems: 1, maxItems: 1000, items: material },
    inboundFlow: flow,
    outboundFlow: flow,
    customFields: { type: 'object', maxProperties: 100, additionalProperties: { type: 'string', maxLength: 4000 } },
  },
};
const response = {
  200: { type: 'object', properties: { success: { type: 'boolean' }, disposalTicketId: { type: 'string' } } },
};

export const TICKET_SCHEMA = { body, response };
