import { useState } from 'preact/hooks';
import type { StoredRecording } from '../../contracts/admin/recordings.routes.js';
import type { PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useConnectionName } from '../client/haulers.js';
import { useSession } from '../client/session.js';
import { pick } from './filters.js';
import { ActionButton } from './forms.js';
import { formatCount } from './values.js';

const hasEnded = ({ status }: { readonly status: string }): boolean => status === 'failed' || status === 'expired';

/** Fetches one recording again. Nothing where retention has deleted its file, and for a session that may only read. */
export function RetryRecording({ recording }: { recording: StoredRecording }) {
  const { canWrite } = useSession();
  if (!canWrite || !hasEnded(recording) || recording.reasonCode === 'fileRemoved') return null;
  return (
    <p class="actions">
      <ActionButton
        label="Fetch this recording again"
        kind="primary"
        busy="Asking the partner …"
        work={() => send('POST', `/recordings/${recording.id}/retry`)}
      />
    </p>
  );
}

/** Fetches all recordings of the filter again that failed or expired. A retry knows neither cameras nor sources. */
export function RetryFiltered({ query }: PageProps) {
  const { canWrite } = useSession();
  const connectionName = useConnectionName();
  const [matched, setMatched] = useState<number>();
  const { connectionId, status = '', ...range } = pick(query, 'connectionId', 'truckId', 'from', 'to', 'status');
  const { truckId, from, to } = range;
  const isNarrower = query.has('cameraId') || query.has('source');
  if (!canWrite || connectionId === undefined || !hasEnded({ status }) || isNarrower) return null;
  const owner = truckId === undefined ? `of ${connectionName(connectionId)}` : `of ${truckId}`;
  const time = from === undefined && to === undefined ? '' : ' in this time';
  return (
    <p class="actions">
      <ActionButton
        label="Fetch all of these again"
        confirm={`All failed and expired recordings ${owner}${time} are fetched again.`}
        work={async () => setMatched((await send('POST', '/recordings/retry', { connectionId, ...range })).matched)}
      />
      {matched !== undefined && <span role="status">Fetched again: {formatCount(matched)}</span>}
    </p>
  );
}
