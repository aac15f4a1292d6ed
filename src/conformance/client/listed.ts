import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { shown, valueAt } from '../checks.js';
import { type Call, type CallLog, jsonOf } from './call.js';
import { callsOf } from './client-rule.js';
import { linkOf } from './partner-files.js';

/** An element of a list that the kit sent to the client. */
export interface Listed {
  readonly call: Call;
  readonly id: string;
  readonly requestId: string | undefined;
  /** The path of its link. */
  readonly path: string;
  readonly expiresAt: number;
}

/** `data` of the list that the kit sent. */
const sentData = ({ answer }: Call): unknown =>
  answer.status === 200 ? ownField(jsonOf(answer).value, 'data') : undefined;

export function listedOf(log: CallLog): Listed[] {
  return callsOf(log, 'listVideos', 'listContinuous').flatMap((call) => {
    const data = sentData(call);
    const list = ownField(data, 'videos') ?? ownField(data, 'recordings');
    return (Array.isArray(list) ? (list as unknown[]) : []).filter(isJsonObject).map((element) => ({
      call,
      id: String(element['id']),
      requestId: element['requestId'] as string | undefined,
      path: new URL(String(element['downloadUrl'])).pathname,
      expiresAt: Date.parse(String(element['expiresAt'])),
    }));
  });
}

/** The state that the kit sent with a list by `requestId`. */
export const sentState = (call: Call): unknown => valueAt(sentData(call), 'request.status');

export const sentPages = (call: Call): number => Number(valueAt(sentData(call), 'pagination.totalPages') ?? 0);

export const sentRequestId = ({ answer }: Call): unknown =>
  answer.status === 202 ? ownField(jsonOf(answer).value, 'requestId') : undefined;

export const downloadsOf = (log: CallLog, id: string): Call[] =>
  callsOf(log, 'download').filter(({ path }) => linkOf(path)?.id === id);

/** Whether the file arrived to its end. */
export const isComplete = ({ answer: { status, cutAfter } }: Call): boolean =>
  (status === 200 || status === 206) && cutAfter === undefined;

export function integerFault({ query }: Call, name: string, min: number, max: number): string | undefined {
  const values = query.getAll(name);
  if (values.length === 0) return undefined;
  const [value = ''] = values;
  const isValid = values.length === 1 && /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return isValid ? undefined : `${name} is ${shown(values.join(', '))}`;
}
