import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';
import type { Column } from '../../parts/listing.js';
import { State } from '../../parts/states.js';
import { formatBytes, Time } from '../../parts/values.js';

/** What an admin and a partner see of each recording. */
export const START: Column<StoredRecording> = { title: 'Start', cell: ({ startTime }) => <Time value={startTime} /> };

export const STATE: Column<StoredRecording> = {
  title: 'State',
  cell: ({ status, reason }) => <State value={status} {...(reason !== undefined && { reason })} />,
};

export const SIZE: Column<StoredRecording> = {
  title: 'Size',
  isNumber: true,
  cell: ({ sizeBytes }) => (sizeBytes === undefined ? '–' : formatBytes(sizeBytes)),
};
