import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS_OF_ALL,
  FOR_OPERATORS_OF_ALL,
  FOR_VIEWERS_OF_ALL,
  list,
  one,
  removeWithPreview,
  route,
} from './route-helpers.js';
import {
  RetriedWebhookDeliveries,
  RetryWebhookDeliveries,
  WebhookDelivery,
  WebhookDeliveryQuery,
} from './webhook-delivery.dto.js';
import {
  ChangeWebhookEndpoint,
  CreateWebhookEndpoint,
  IssuedWebhookEndpoint,
  NEW_WEBHOOK_ENDPOINTS,
  RotateWebhookSecret,
  WEBHOOK_ENDPOINT_CHANGES,
  WebhookEndpoint,
  WebhookEndpointQuery,
  WebhookEndpointRemoval,
} from './webhook-endpoint.dto.js';

/** Endpoints that get what happens, and what was delivered to them. */
export const WEBHOOK_ROUTES = {
  createWebhookEndpoint: create(FOR_ADMINS_OF_ALL, '/webhook-endpoints', CreateWebhookEndpoint, IssuedWebhookEndpoint, {
    summary: 'Create a webhook endpoint',
    description:
      'Only this response shows the secret. Other instances know the endpoint within 4 s: events until then may be missing.',
    examples: NEW_WEBHOOK_ENDPOINTS,
    isSecret: true,
    fails: { conflict: 'There are as many endpoints as there may be' },
  }),
  listWebhookEndpoints: list(FOR_VIEWERS_OF_ALL, '/webhook-endpoints', WebhookEndpoint, WebhookEndpointQuery, {
    summary: 'List webhook endpoints',
    description: 'Newest first, those of partners too, without their secrets.',
  }),
  getWebhookEndpoint: one(FOR_VIEWERS_OF_ALL, '/webhook-endpoints/{id}', 'endpoint', WebhookEndpoint, {
    summary: 'Read a webhook endpoint',
    description: 'Without its secret.',
  }),
  updateWebhookEndpoint: change(FOR_ADMINS_OF_ALL, 'PATCH', '/webhook-endpoints/{id}', 'endpoint', {
    summary: 'Change a webhook endpoint',
    description:
      'Fields that are absent stay the same. `enabled: true` tries waiting deliveries again at once; while it is false nothing is stored for the endpoint, and nothing is delivered.',
    body: ChangeWebhookEndpoint,
    response: WebhookEndpoint,
    examples: WEBHOOK_ENDPOINT_CHANGES,
  }),
  deleteWebhookEndpoint: removeWithPreview(
    FOR_ADMINS_OF_ALL,
    '/webhook-endpoints/{id}',
    'endpoint',
    WebhookEndpointRemoval,
    { summary: 'Delete a webhook endpoint', description: 'With its secret and its deliveries.' },
  ),
  testWebhookEndpoint: change(FOR_OPERATORS_OF_ALL, 'POST', '/webhook-endpoints/{id}/test', 'endpoint', {
    summary: 'Test a webhook endpoint',
    description:
      'Sends `webhook.test` once, at once, and returns the delivery with the answer. Also while it is disabled.',
    response: WebhookDelivery,
  }),
  rotateWebhookSecret: change(FOR_ADMINS_OF_ALL, 'POST', '/webhook-endpoints/{id}/rotate-secret', 'endpoint', {
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'The new secret signs at once. The former one signs as well for the overlap: each delivery then has two signatures. A rotation within the overlap ends the oldest secret.',
    body: RotateWebhookSecret,
    response: IssuedWebhookEndpoint,
    isBodyOptional: true,
    status: 201,
    returns: 'The endpoint with its new secret',
    isSecret: true,
  }),
  listWebhookDeliveries: list(FOR_VIEWERS_OF_ALL, '/webhook-deliveries', WebhookDelivery, WebhookDeliveryQuery, {
    summary: 'List webhook deliveries',
    description: 'Newest first, with the last answer of the receiver.',
  }),
  getWebhookDelivery: one(FOR_VIEWERS_OF_ALL, '/webhook-deliveries/{id}', 'delivery', WebhookDelivery, {
    summary: 'Read a webhook delivery',
    description: 'With the last answer of the receiver.',
  }),
  retryWebhookDelivery: change(FOR_OPERATORS_OF_ALL, 'POST', '/webhook-deliveries/{id}/retry', 'delivery', {
    summary: 'Deliver again',
    description:
      'At once, with the same `webhook-id`, whatever its state is. Its tries are counted from 0 again. Of a disabled endpoint it waits until that is enabled.',
    response: WebhookDelivery,
    status: 202,
    fails: { conflict: 'It is being delivered at this moment' },
  }),
  retryWebhookDeliveries: route(FOR_OPERATORS_OF_ALL, 'POST', '/webhook-deliveries/retry', {
    summary: 'Deliver again what failed within a time',
    description: 'Each with the same `webhook-id`.',
    body: RetryWebhookDeliveries,
    response: RetriedWebhookDeliveries,
    status: 202,
    returns: 'The number of deliveries',
  }),
} as const satisfies AdminRoutes;
