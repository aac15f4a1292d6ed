import type { CameraCoverage, CoverageCause, CoverageSide } from '../../../contracts/admin/coverage.routes.js';

/** Causes of footage that was recorded or requested, and that is lost; a time stands before them. */
const LOST: Readonly<Partial<Record<CoverageCause, string>>> = {
  notListed: 'not listed by the partner',
  linkRefused: 'of dead links',
  unreachable: 'of a host that was not reached',
  invalidFile: 'of broken files',
  addressRefused: 'of addresses that may not be called',
  tooLarge: 'of files that are too large',
  interrupted: 'of downloads that were interrupted',
  fileRemoved: 'deleted after the time of keeping',
  erased: 'erased by request',
  gap: 'left out of clips',
  clipFailed: 'of clips that failed',
  unknown: 'for an unknown reason',
};

/** Causes of time without a recording, which is no loss as far as anyone knows. */
const EMPTY: Readonly<Partial<Record<CoverageCause, (time: string) => string>>> = {
  waiting: (time) => `${time} still to be downloaded`,
  unread: (time) => `${time} unknown, because the list of the partner could not be read`,
  notReadYet: (time) => `${time} not read yet`,
  notRecorded: (time) => `the partner lists nothing for ${time}`,
  notSubscribed: (time) => `no subscription for ${time}`,
  connectionDeleted: (time) => `${time} not read, because the connection was deleted`,
};

const SIDES: Readonly<Partial<Record<CoverageSide, string>>> = {
  partner: 'the partner',
  platform: 'this service',
  network: 'the network',
  unknown: 'not known',
};

/** A camera in words: a number alone does not say that it is a camera. A placement that is known for it comes first. */
export function cameraLabel(id: string, names: readonly string[] = []): string {
  if (!/^\d+$/.test(id)) return capitalized(id);
  const placement = names.find((name) => !/^\d+$/.test(name));
  return placement === undefined ? `Camera ${id}` : `${capitalized(placement)} (${id})`;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export interface CameraSentence {
  readonly text: string;
  /** Who can do something about what is lost. */
  readonly sides: string;
  readonly isBad: boolean;
}

/** The state of one camera over a time in one sentence. `at` writes a time of the page. */
export function sentenceOf(camera: CameraCoverage, at: (time: string) => string): CameraSentence {
  const { cameraId, names, stored, available, lost, causes, lastRecordedAt } = camera;
  const own = causes.filter(({ cause }) => LOST[cause] !== undefined);
  const others = causes.flatMap(({ cause, seconds }) => EMPTY[cause]?.(timeText(seconds)) ?? []);
  const last =
    lastRecordedAt === undefined ? 'it has no recording at all' : `its last recording began ${at(lastRecordedAt)}`;
  const state =
    stored + available + lost === 0
      ? `nothing recorded in this time; ${last}`
      : lost === 0
        ? `nothing lost of ${timeText(stored + available)} recorded`
        : `${timeText(lost)} lost: ${own.map(({ cause, seconds }) => `${timeText(seconds)} ${LOST[cause]}`).join(', ')}`;
  const name = cameraId === undefined ? 'All cameras' : cameraLabel(cameraId, names);
  return {
    text: `${name}: ${state}.${others.length === 0 ? '' : ` ${capitalized(others.join('; '))}.`}`,
    sides: sidesText(own),
    isBad: lost > 0 || stored + available === 0,
  };
}

function sidesText(causes: CameraCoverage['causes']): string {
  const sides = Map.groupBy(causes, ({ side }) => side);
  const texts = [...sides].flatMap(([side, all]) => {
    const seconds = all.reduce((sum, each) => sum + each.seconds, 0);
    return SIDES[side] === undefined ? [] : [sides.size === 1 ? SIDES[side] : `${SIDES[side]} ${timeText(seconds)}`];
  });
  return texts.length === 0 ? '' : `Whose part: ${texts.join(', ')}`;
}

const MINUTES_UP_TO = 2 * 3_600;

/** For example `45 s`, `60 min`, `9 h 20 min` or `3 days 4 h`. */
export function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < MINUTES_UP_TO) return `${Math.round(seconds / 60)} min`;
  const minutes = Math.round(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor((minutes % 1_440) / 60)];
  if (minutes < 2 * 1_440) return join(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  return join(days, 'days', hours, 'h');
}

const join = (large: number, unit: string, small: number, smallUnit: string): string =>
  `${large} ${unit}${small === 0 ? '' : ` ${small} ${smallUnit}`}`;
