import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  ChangeOwnWebhookEndpoint,
  CreateOwnWebhookEndpoint,
  IssuedWebhookEndpoint,
  NEW_WEBHOOK_ENDPOINTS,
  RotateWebhookSecret,
  WEBHOOK_ENDPOINT_CHANGES,
  WEBHOOK_ROUTES,
  WebhookDelivery,
  WebhookDeliveryQuery,
  WebhookEndpoint,
  WebhookEndpointRemoval,
} from '../admin/webhooks.routes.js';
import { DryRunQuery } from '../admin/fields.js';
import { IdParam, listOf, ListQuery } from '../admin/list.dto.js';
import { FOR_PARTNERS, own, ownOne, route } from '../admin/route-helpers.js';
import type { RouteDefinition } from '../common/api-contract.js';
import { Integer, Name, Text } from '../common/fields/decorators.js';
import { between, example, max, optional } from '../common/fields/options.js';
import { MAX_REQUEST_ID_LENGTH } from '../vision/vision.api.js';

/** Pokes of a connection that an instance takes in a minute. */
export const MAX_POKES_PER_MINUTE = 60;

/** What is ready. */
export class Poke {
  @Text("The partner's id of a clip request", between(1, MAX_REQUEST_ID_LENGTH), optional, example('req-4711'))
  requestId?: string;
  @Name('A truck with new continuous recordings', max(MAX_PARTNER_ID), optional, example('TRUCK-7')) truckId?: string;
}

export class PokeResult {
  @Integer('Polls that are due now; 0 where nothing waits for the partner any more', example(1)) polls!: number;
}

const POKES = {
  request: { summary: 'A clip is ready', value: { requestId: 'req-4711' } },
  truck: { summary: 'A truck has new recordings', value: { truckId: 'TRUCK-7' } },
};

const of = (text: string) =>
  `${text} For the hauler or connection of the key: endpoints that its predecessors created before a rotation belong to it too.`;

const NO_ENDPOINT = 'No endpoint has this id';

/** Webhooks of a partner with its own key, and its word that something is ready. */
export const PARTNER_WEBHOOK_ROUTES = {
  createOwnWebhookEndpoint: own(WEBHOOK_ROUTES.createWebhookEndpoint, {
    description: of('Only this response shows the secret. A topic that the key does not open is 400.'),
    body: CreateOwnWebhookEndpoint,
    examples: { standard: NEW_WEBHOOK_ENDPOINTS.standard },
    response: IssuedWebhookEndpoint,
    isSecret: true,
    fails: { conflict: 'The key has as many endpoints as it may have' },
  }),
  listOwnWebhookEndpoints: own(WEBHOOK_ROUTES.listWebhookEndpoints, {
    description: of('Newest first.'),
    query: ListQuery,
    response: listOf(WebhookEndpoint),
  }),
  getOwnWebhookEndpoint: ownOne(WEBHOOK_ROUTES.getWebhookEndpoint, NO_ENDPOINT, {
    description: of('Without its secret.'),
    response: WebhookEndpoint,
  }),
  updateOwnWebhookEndpoint: ownOne(WEBHOOK_ROUTES.updateWebhookEndpoint, NO_ENDPOINT, {
    body: ChangeOwnWebhookEndpoint,
    examples: WEBHOOK_ENDPOINT_CHANGES,
    response: WebhookEndpoint,
  }),
  deleteOwnWebhookEndpoint: ownOne(WEBHOOK_ROUTES.deleteWebhookEndpoint, NO_ENDPOINT, {
    query: DryRunQuery,
    preview: WebhookEndpointRemoval,
  }),
  testOwnWebhookEndpoint: ownOne(WEBHOOK_ROUTES.testWebhookEndpoint, NO_ENDPOINT, { response: WebhookDelivery }),
  rotateOwnWebhookSecret: ownOne(WEBHOOK_ROUTES.rotateWebhookSecret, NO_ENDPOINT, {
    body: RotateWebhookSecret,
    isBodyOptional: true,
    response: IssuedWebhookEndpoint,
    isSecret: true,
  }),
  listOwnWebhookDeliveries: own(WEBHOOK_ROUTES.listWebhookDeliveries, {
    description: of('Newest first, with the last answer of the receiver.'),
    query: WebhookDeliveryQuery,
    response: listOf(WebhookDelivery),
  }),
  retryOwnWebhookDelivery: own(WEBHOOK_ROUTES.retryWebhookDelivery, {
    params: IdParam,
    response: WebhookDelivery,
    fails: WEBHOOK_ROUTES.retryWebhookDelivery.fails,
  }),
  poke: route(FOR_PARTNERS, 'POST', '/pokes', {
    summary: 'Say that something is ready',
    description: `Makes the poll of the clip request, or the reading of the truck's recordings, due at once; a truck that was just read is read again after 10 s. It does nothing else: what was listed counts. Several pokes before the poll are one poll. At most ${MAX_POKES_PER_MINUTE} a minute. For keys of a vision connection.`,
    body: Poke,
    examples: POKES,
    status: 202,
    response: PokeResult,
    returns: 'The polls that are due',
    fails: { notFound: 'Nothing of the connection has this id, or the key is not that of a vision connection' },
  }),
} as const satisfies Readonly<Record<string, RouteDefinition>>;
