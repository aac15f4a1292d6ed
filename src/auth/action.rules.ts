import { isJsonObject } from '../contracts/common/json.js';
import { redactUrls } from '../outbound/redaction.js';
import type { Principal } from './principal.js';

const REDACTED = '[redacted]';
const SECRET_MEMBERS = new Set(['apiKey', 'nextApiKey', 'key', 'token', 'secret', 'password']);

/** Limits of the fields that are stored of one body. */
const MAX_MEMBERS = 50;
const MAX_MEMBER_LENGTH = 1_000;

/** The fields that a call sent, without secrets; undefined without a JSON object. */
export function changesOf(body: unknown): Record<string, unknown> | undefined {
  if (!isJsonObject(body)) return undefined;
  const members = Object.entries(body).slice(0, MAX_MEMBERS);
  if (members.length === 0) return undefined;
  return Object.fromEntries(members.map(([name, value]) => [name.slice(0, 255), shown(name, value)]));
}

function shown(name: string, value: unknown): unknown {
  const safe = withoutSecrets(name, value);
  const { length } = JSON.stringify(safe) ?? '';
  return length > MAX_MEMBER_LENGTH ? `[${length} characters]` : safe;
}

function withoutSecrets(name: string, value: unknown): unknown {
  if (SECRET_MEMBERS.has(name)) return REDACTED;
  if (typeof value === 'string') return redactUrls(value);
  if (Array.isArray(value)) return value.map((element) => withoutSecrets('', element));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(key, each)]));
}

export interface ChangingCall {
  /** Below the prefix of the API. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly response: unknown;
  /** The caller of the partner API. */
  readonly principal?: Principal | undefined;
}

/** The changed resource, as `connection:<id>`. */
export function resourceOf({ path, params, response, principal }: ChangingCall): string {
  if (principal !== undefined) {
    const { haulerId, customerId } = principal;
    return haulerId === null ? `customer:${customerId ?? ''}` : `hauler:${haulerId}`;
  }
  if (params['subject'] !== undefined) return `${singular(params['subject'])}:${params['subjectId'] ?? ''}`;
  if (params['customerId'] !== undefined) return `customer:${params['customerId']}`;
  if (params['haulerId'] !== undefined) return `hauler:${params['haulerId']}`;
  const kind = singular(path.split('/')[1] ?? '');
  const id =
    params['id'] ?? (isJsonObject(response) && typeof response['id'] === 'string' ? response['id'] : undefined);
  return id === undefined ? kind : `${kind}:${id}`;
}

const singular = (noun: string): string => noun.replace(/s$/, '');
