import type { HappenedEvent } from '../../events/outbox.js';
import type { Changes } from '../../work/run.js';
import type { RecordingState } from '../recordings/recording.rules.js';
import type { RecordingRow } from './download.repository.js';

/** What is announced of a continuous recording: that it is given up. */
export function givenUp(row: RecordingRow, status: RecordingState, set: Changes): HappenedEvent | undefined {
  if (status !== 'failed' && status !== 'expired') return undefined;
  const { hauler_id: haulerId, connection_id: connectionId, truck_id: truckId, camera_id: cameraId } = row;
  const reason = typeof set['reason_code'] === 'string' ? set['reason_code'] : status;
  const data = { connectionId, recordingId: row.id, truckId, cameraId, reason };
  return { topic: 'recording.failed', haulerId, connectionId, data };
}
