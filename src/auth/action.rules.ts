import { plainToInstance } from 'class-transformer';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import type { DtoClass } from '../contracts/common/fields/field.js';
import { withValidation } from '../contracts/common/fields/validation.js';
import { isJsonObject } from '../contracts/common/json.js';
import { REDACTED } from '../core/text/secret-names.js';
import { redacted } from '../core/observability/redaction.js';
import type { Principal } from '../core/http/principal.js';

/** Limits of one value of a change. The DTO limits how many values there are. */
const MAX_CHARACTERS = 1_000;
const MAX_ELEMENTS = 50;

/** The part of a route that names and validates its input. */
export type ActionRoute = Pick<ApiRoute, 'resource' | 'params' | 'query' | 'body' | 'upload'>;

export interface ChangingCall {
  readonly route: ActionRoute;
  readonly params: unknown;
  readonly query: unknown;
  /** The parsed JSON body; undefined if none was sent. */
  readonly body: unknown;
  /** Undefined for a call that failed. */
  readonly response: unknown;
  /** The caller of the partner API. */
  readonly principal?: Principal | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** Whether the call asked for a dry run, on a route that has one. */
export function isDryRun({ route, query, body }: Pick<ChangingCall, 'route' | 'query' | 'body'>): boolean {
  return valuesOf(route.body, body)['dryRun'] === true || valuesOf(route.query, query)['dryRun'] === true;
}

/**
 * The changes of a call, as the route read them: without unknown fields, and with secrets redacted. The body of an
 * upload is too large for the log: the response says what was stored, without its rows. Undefined without any value.
 */
export function changesOf({ route, params, query, body, response }: ChangingCall): Values | undefined {
  const { name } = valuesOf(route.params, params);
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...valuesOf(route.query, query),
    ...withoutSecretAddress(route, valuesOf(route.body, body)),
    ...(route.upload === undefined || !isJsonObject(response) ? {} : withoutLists(response)),
  };
  return Object.keys(changes).length === 0 ? undefined : (cut(redacted(changes)) as Values);
}

const withoutLists = (response: Values): Values =>
  Object.fromEntries(Object.entries(response).filter(([, value]) => !Array.isArray(value)));

/** The path of a receiver's address may be a secret, as that of Slack is. */
function withoutSecretAddress({ resource }: ActionRoute, values: Values): Values {
  const { url } = values;
  if (resource !== 'webhook-endpoint' || typeof url !== 'string' || !/^https?:/i.test(url)) return values;
  return { ...values, url: URL.canParse(url) ? `${new URL(url).origin}/…` : REDACTED };
}

/** The input as the validation pipe has read it. The route has accepted it, so there are no violations. */
function valuesOf(type: DtoClass | undefined, input: unknown): Values {
  if (type === undefined || !isJsonObject(input)) return {};
  return plainToInstance(withValidation(type), input, {
    excludeExtraneousValues: true,
    exposeUnsetFields: false,
  }) as Values;
}

/** Shortens texts and lists, and says by how much. */
function cut(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.length <= MAX_CHARACTERS) return value;
    return `${value.slice(0, MAX_CHARACTERS).toWellFormed()}… [${value.length} characters]`;
  }
  if (Array.isArray(value)) {
    const first = value.slice(0, MAX_ELEMENTS).map(cut);
    return value.length <= MAX_ELEMENTS ? first : [...first, `… [${value.length} elements]`];
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each)]));
}

/** The changed resource, as `connection:<id>`. */
export function resourceOf({ route, params, query, response, principal }: ChangingCall): string {
  if (principal !== undefined && route.resource === 'sandbox') {
    const { haulerId, customerId } = principal;
    return haulerId === null ? `customer:${customerId ?? ''}` : `hauler:${haulerId}`;
  }
  const named = route.upload === undefined ? {} : valuesOf(route.query, query);
  const { subject, subjectId, customerId, haulerId, id } = {
    ...(named['haulerId'] === undefined ? {} : { haulerId: named['haulerId'] }),
    ...valuesOf(route.params, params),
  } as Record<string, string>;
  if (subject !== undefined) return `${singular(subject)}:${subjectId ?? ''}`;
  if (customerId !== undefined) return `customer:${customerId}`;
  if (haulerId !== undefined) return `hauler:${haulerId}`;
  const created = isJsonObject(response) && typeof response['id'] === 'string' ? response['id'] : undefined;
  const of = id ?? created;
  return of === undefined ? route.resource : `${route.resource}:${of}`;
}

const singular = (noun: string): string => noun.replace(/s$/, '');
