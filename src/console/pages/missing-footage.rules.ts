import type { CoverageInterval } from '../../contracts/admin/recording.dto.js';

/** The side that caused missing footage. */
function sideOf({ state, recordingId, reason = '' }: CoverageInterval): 'platform' | 'partner' {
  if (state === 'available' || state === 'expired') return 'platform';
  if (recordingId !== undefined) return 'partner';
  return /^(?:The partner lists no recording|Not read yet: )/.test(reason) ? 'partner' : 'platform';
}

const CAUSES: Readonly<Record<CoverageInterval['state'], string>> = {
  stored: '',
  available: 'The service has not downloaded it yet.',
  expired: 'The link expired before the file was downloaded.',
  missing: 'The recording failed.',
};

const TITLES = ['truck', 'camera', 'start', 'end', 'seconds', 'state', 'cause', 'side'];

/** All time of a truck without a stored file, as CSV (RFC 4180). */
export function missingFootage(truckId: string, intervals: readonly CoverageInterval[]): string {
  const rows = intervals
    .filter(({ state }) => state !== 'stored')
    .map((each) => {
      const { cameraId = '', startTime, endTime, state, recordingId, reason } = each;
      const seconds = (Date.parse(endTime) - Date.parse(startTime)) / 1_000;
      const shown = state === 'missing' && recordingId === undefined ? 'not recorded' : state;
      return [truckId, cameraId, startTime, endTime, String(seconds), shown, reason ?? CAUSES[state], sideOf(each)];
    });
  return [TITLES, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

/** A spreadsheet must not read the text of a partner as a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
