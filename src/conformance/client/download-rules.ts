import type { RuleFacts } from '../rule.js';
import { type Call, type CallLog, soleHeader } from './call.js';
import { callsOf, type CallVerdict, type ClientRule, everyCall, met } from './client-rule.js';
import { downloadsOf, isComplete, type Listed, listedOf } from './listed.js';
import { linkOf } from './partner-files.js';
import { PARTNER_FAULTS } from './partner-peer.js';

const rule = (
  id: string,
  title: string,
  remedy: string,
  check: ClientRule['check'],
  severity: RuleFacts['severity'] = 'must',
): ClientRule => ({ id, section: '8', severity, operation: 'download', title, remedy, check });

const needs = (scenario: (typeof PARTNER_FAULTS)['requestVideo'][number]): string =>
  `it needs ${PARTNER_FAULTS.requestVideo.indexOf(scenario) + 1} different video requests`;

const idOf = ({ path }: Call): string => linkOf(path)?.id ?? '';

/** The first listing of each recording decides; the call is that list. */
function everyRecording(log: CallLog, faultOf: (listed: Listed) => string | undefined): CallVerdict {
  const first = new Map<string, Listed>();
  for (const listed of listedOf(log)) if (!first.has(listed.id)) first.set(listed.id, listed);
  const byCall = [...first.values()];
  const faults = new Map(byCall.map((listed) => [listed.call, undefined as string | undefined]));
  for (const listed of byCall) faults.set(listed.call, faults.get(listed.call) ?? faultOf(listed));
  return everyCall([...faults.keys()], 'no recording was listed', (call) => faults.get(call));
}

const after = (call: Call, log: CallLog): Call[] =>
  downloadsOf(log, idOf(call)).filter((next) => next.at >= call.at && next !== call);

export const DOWNLOAD_RULES: readonly ClientRule[] = [
  rule(
    'PLATFORM-060',
    'every recording that was listed is requested',
    'Download each recording before its link expires.',
    (log) => {
      const requested = new Set(callsOf(log, 'download').map(idOf));
      return everyRecording(log, ({ id }) => (requested.has(id) ? undefined : `${id} was not requested`));
    },
  ),
  rule(
    'PLATFORM-061',
    'no link is used after its expiresAt',
    'List again to get a new link when one has expired.',
    (log) => {
      const expiries = new Map<string, number>();
      for (const { path, expiresAt } of listedOf(log)) expiries.set(path, Math.max(expiresAt, expiries.get(path) ?? 0));
      return everyCall(callsOf(log, 'download'), 'no download was seen', ({ at, path }) =>
        at <= (expiries.get(path) ?? Infinity) ? undefined : `${path} had expired`,
      );
    },
  ),
  rule(
    'PLATFORM-062',
    'a download that broke off is requested again',
    'Request the file again after a broken connection.',
    (log) =>
      everyCall(met(log, 'cut-file', 'download'), needs('slow-clip'), (call) =>
        after(call, log).length > 0 ? undefined : 'it was not requested again',
      ),
  ),
  rule(
    'PLATFORM-063',
    'a download that broke off continues with Range and If-Range',
    'Send Range from the first missing byte, and If-Range with the ETag.',
    (log) => {
      const cut = met(log, 'cut-file', 'download').filter((call) => after(call, log).length > 0);
      return everyCall(cut, needs('slow-clip'), (call) => {
        const [next] = after(call, log);
        const isContinued =
          next !== undefined &&
          soleHeader(next, 'Range') !== undefined &&
          soleHeader(next, 'If-Range') === call.answer.headers['ETag'];
        return isContinued ? undefined : 'the whole file was requested again';
      });
    },
    'should',
  ),
  rule(
    'PLATFORM-064',
    'a link that was refused is replaced by listing again',
    'List again after 401, 403, 404 or 410 of a link, and use the new one.',
    (log) =>
      everyCall(met(log, 'link-expired', 'download'), needs('link-expired'), (call) => {
        const isListedAgain = listedOf(log).some((listed) => listed.id === idOf(call) && listed.path !== call.path);
        return isListedAgain && after(call, log).some(({ path }) => path !== call.path)
          ? undefined
          : 'no new link was used';
      }),
  ),
  rule(
    'PLATFORM-065',
    'a recording that is listed twice is downloaded once',
    'Recognise a recording by its id: pages shift while they are read.',
    (log) => {
      const complete = callsOf(log, 'download').filter(isComplete);
      return everyCall(complete, 'no download was seen', (call) =>
        complete.some((next) => next !== call && idOf(next) === idOf(call))
          ? `${idOf(call)} was downloaded twice`
          : undefined,
      );
    },
    'should',
  ),
];
