import type { CheckedDatabase, PartitionedTable, Standby, WaitingWork } from './doctor.repository.js';

/** One line of `doctor`. A text of a line that is not ok says what to do. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly text: string;
}

type Verdict = Omit<Finding, 'name'>;

const fine = (text: string): Verdict => ({ ok: true, text });
const wrong = (text: string): Verdict => ({ ok: false, text });

/** As in docs/alerts.yml. */
const MAX_WORK_WAIT_SECONDS = 900;
/** Partners' links and our own expire by these clocks. */
const MAX_CLOCK_DIFFERENCE_MS = 2_000;
const MAX_LAG_SECONDS = 60;

export function databaseVerdict({ version, isStandby, isReadOnly }: CheckedDatabase): Verdict {
  const what = `PostgreSQL ${version}`;
  if (isStandby) return wrong(`${what}, a standby, which takes no writes: let DATABASE_URL lead to the primary`);
  if (isReadOnly) return wrong(`${what}, primary, but read-only: remove default_transaction_read_only`);
  return fine(`${what}, primary, takes writes`);
}

/** A standby that is not named synchronous may be away. `synchronousNames` is the setting of the server. */
export function replicationVerdict(standbys: readonly Standby[], synchronousNames: string): Verdict {
  if (standbys.some(({ state }) => state === null))
    return fine(`${standbys.length} connected; GRANT pg_monitor TO the role of DATABASE_URL to see how far they are`);
  const isSynchronous = standbys.some(({ syncState }) => syncState === 'sync' || syncState === 'quorum');
  if (synchronousNames !== '' && !isSynchronous)
    return wrong(`no synchronous standby of (${synchronousNames}) is connected, so commits wait: start it`);
  if (standbys.length === 0) return fine('no standby is connected');
  const shown = standbys.map(
    ({ name, state, syncState, lagSeconds }) => `${name} ${state} ${syncState}, ${seconds(lagSeconds)} behind`,
  );
  const late = standbys.find(({ lagSeconds, state }) => lagSeconds > MAX_LAG_SECONDS || state !== 'streaming');
  if (late !== undefined) return wrong(`${shown.join('; ')}: look at the log of ${late.name}`);
  return fine(shown.join('; '));
}

export function migrationsVerdict(applied: number, pending: readonly string[], fault: string | undefined): Verdict {
  if (fault !== undefined) return wrong(fault);
  if (pending.length > 0) return wrong(`${pending.length} pending (${pending.at(-1)}): run npm run migrate`);
  return fine(`${applied} applied, none pending, none unknown`);
}

/** The service creates partitions for three days or two months ahead. */
export function partitionsVerdict(tables: readonly PartitionedTable[]): Verdict {
  if (tables.length === 0) return fine('no partitioned tables');
  const shown = tables.map(({ name, partitions, ahead, unit }) =>
    ahead === null ? `${name} ${partitions}` : `${name} ${partitions}, ${ahead} ${unit} ahead`,
  );
  const late = tables.find(({ ahead }) => ahead === null || ahead < 1);
  if (late !== undefined) return wrong(`${shown.join('; ')}: start the service, which creates those of ${late.name}`);
  return fine(shown.join('; '));
}

export function workVerdict(work: readonly WaitingWork[]): Verdict {
  const waiting = work.filter(({ waitedSeconds }) => waitedSeconds > 0);
  if (waiting.length === 0) return fine('nothing is due');
  const shown = waiting.map(({ kind, waitedSeconds }) => `${kind} ${seconds(waitedSeconds)}`).join(', ');
  const isLate = waiting.some(({ waitedSeconds }) => waitedSeconds > MAX_WORK_WAIT_SECONDS);
  return isLate
    ? wrong(`the oldest waits: ${shown}: start the service, or look at its log`)
    : fine(`the oldest waits: ${shown}`);
}

/** Positive: the clock of this machine is ahead. */
export function clockVerdict(differenceMs: number): Verdict {
  const text = `${Math.abs(differenceMs / 1000).toFixed(1)} s ${differenceMs < 0 ? 'behind' : 'ahead of'} the database`;
  return Math.abs(differenceMs) > MAX_CLOCK_DIFFERENCE_MS ? wrong(`${text}: set both clocks by NTP`) : fine(text);
}

function seconds(value: number): string {
  if (value < 120) return `${Math.round(value)} s`;
  return value < 7200 ? `${Math.round(value / 60)} min` : `${Math.round(value / 3600)} h`;
}
