import type { RecordingDetails } from '../../../contracts/admin/recordings.routes.js';
import { wholeTime } from '../../parts/zone.rules.js';

export interface LifeStep {
  readonly word: string;
  readonly tone: 'good' | 'bad' | 'warn' | 'info' | 'plain';
  /** When it happened, or happens next. */
  readonly at?: string | undefined;
  readonly text?: string | undefined;
}

/** The way of a recording from the list of the partner to where it is now, the first step first: what is stored of it. */
export function lifeOf(recording: RecordingDetails): LifeStep[] {
  const { source, status, reason, createdAt, holdIds, life } = recording;
  const { attempts, storedAt } = life;
  const failed = attempts - (status === 'downloading' ? 1 : 0);
  const steps: LifeStep[] = [
    {
      word: 'Listed',
      tone: 'plain',
      at: createdAt,
      text: source === 'continuous' ? 'By the partner, as it recorded.' : 'By the partner, for a clip request.',
    },
  ];
  if (failed > 0) {
    const times = failed === 1 ? 'Once without success' : `${failed} times without success`;
    steps.push({ word: 'Tried', tone: 'warn', text: times + (reason === undefined ? '.' : `: ${reason}`) });
  }
  if (storedAt !== undefined) steps.push({ word: 'Stored', tone: 'good', at: storedAt });
  if (holdIds.length > 0) {
    steps.push({ word: 'Held', tone: 'info', text: 'It stays until its hold is released, whatever its age.' });
  }
  return [...steps, ...lastOf(recording)];
}

/** Where it is now, unless it is stored. */
function lastOf({ status, reason: text, expiresAt, updatedAt, life }: RecordingDetails): LifeStep[] {
  const { deletedAt, startedAt, dueAt } = life;
  if (deletedAt !== undefined) return [{ word: 'Deleted by age', tone: 'warn', at: deletedAt, text }];
  if (status === 'stored') return [];
  if (status === 'downloading') return [{ word: 'Downloading', tone: 'info', at: startedAt }];
  if (status === 'available') {
    const end = expiresAt === undefined ? '' : ` Its link expires at ${wholeTime(expiresAt)}.`;
    return [{ word: 'Waiting', tone: 'info', at: dueAt, text: `For its download, which is due at this time.${end}` }];
  }
  return [{ word: status === 'expired' ? 'Expired' : 'Given up', tone: 'bad', at: updatedAt, text }];
}
