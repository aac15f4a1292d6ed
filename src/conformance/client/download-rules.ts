import { type Call, type CallLog, soleHeader } from './call.js';
import { callsOf, type ClientRule, clientRules, everyCall, faultedCalls } from './client-rule.js';
import { downloadsOf, isComplete, listedOf } from './listed.js';
import { linkOf } from './partner-files.js';
import { PARTNER_FAULTS } from './partner-peer.js';
import { neededCalls } from './retry-rules.js';

const needs = (scenario: string): string => neededCalls(PARTNER_FAULTS, 'requestVideo', scenario);

const idOf = ({ path }: Call): string => linkOf(path)?.id ?? '';

const after = (call: Call, log: CallLog): Call[] =>
  downloadsOf(log, idOf(call)).filter((next) => next.at >= call.at && next !== call);

export const DOWNLOAD_RULES: readonly ClientRule[] = clientRules(
  `
PLATFORM-060 | must | 8 | download | every recording that was listed is requested | Download each recording before its link expires.
PLATFORM-061 | must | 8 | download | no link is used after its expiresAt | List again to get a new link when one has expired.
PLATFORM-062 | must | 8 | download | an interrupted download is requested again | Request the file again after the connection has closed early.
PLATFORM-063 | should | 8 | download | an interrupted download continues with Range and If-Range | Send Range from the first missing byte, and If-Range with the ETag.
PLATFORM-064 | must | 8 | download | a link that was refused is replaced by listing again | List again after 401, 403, 404 or 410 of a link, and use the new one.
PLATFORM-065 | should | 8 | download | a recording that is listed twice is downloaded once | Recognise a recording by its id: pages shift while they are read.
`,
  {
    'PLATFORM-060': (log) => {
      const requested = new Set(callsOf(log, 'download').map(idOf));
      const listed = listedOf(log);
      const missing = listed.find(({ id }) => !requested.has(id));
      const lists = [...new Set(listed.map(({ call }) => call))];
      return everyCall(lists, 'no recording was listed', (call) =>
        call === missing?.call ? `${missing.id} was not requested` : undefined,
      );
    },
    'PLATFORM-061': (log) => {
      const expiries = new Map<string, number>();
      for (const { path, expiresAt } of listedOf(log)) expiries.set(path, Math.max(expiresAt, expiries.get(path) ?? 0));
      return everyCall(callsOf(log, 'download'), 'no download was seen', ({ at, path }) =>
        at <= (expiries.get(path) ?? Infinity) ? undefined : `${path} had expired`,
      );
    },
    'PLATFORM-062': (log) =>
      everyCall(faultedCalls(log, 'cut-file', 'download'), needs('slow-clip'), (call) =>
        after(call, log).length > 0 ? undefined : 'it was not requested again',
      ),
    'PLATFORM-063': (log) => {
      const cut = faultedCalls(log, 'cut-file', 'download').filter((call) => after(call, log).length > 0);
      return everyCall(cut, needs('slow-clip'), (call) => {
        const [next] = after(call, log);
        const isContinued =
          next !== undefined &&
          soleHeader(next, 'Range') !== undefined &&
          soleHeader(next, 'If-Range') === call.answer.headers['ETag'];
        return isContinued ? undefined : 'the whole file was requested again';
      });
    },
    'PLATFORM-064': (log) =>
      everyCall(faultedCalls(log, 'link-expired', 'download'), needs('link-expired'), (call) => {
        const isListedAgain = listedOf(log).some((listed) => listed.id === idOf(call) && listed.path !== call.path);
        return isListedAgain && after(call, log).some(({ path }) => path !== call.path)
          ? undefined
          : 'no new link was used';
      }),
    'PLATFORM-065': (log) => {
      const complete = callsOf(log, 'download').filter(isComplete);
      return everyCall(complete, 'no download was seen', (call) =>
        complete.some((next) => next !== call && idOf(next) === idOf(call))
          ? `${idOf(call)} was downloaded twice`
          : undefined,
      );
    },
  },
);
