import { linkTo } from '../../client/links.js';
import { useLoad } from '../../client/load.js';

/** Links to the tickets that were weighed during a recording. */
export function RecordedTickets({ recordingId }: { recordingId: string }) {
  const tickets = useLoad(`/recordings/${recordingId}/tickets`).data?.data ?? [];
  if (tickets.length === 0) return null;
  return (
    <p aria-label="Tickets of this recording" role="group">
      {tickets.length === 1 ? 'Ticket' : 'Tickets'} of this time:{' '}
      {tickets.map(({ id, flows }, index) => (
        <span key={id}>
          {index > 0 && ' · '}
          <a href={linkTo('tickets', { id })}>{flows.map(({ ticketNumber }) => ticketNumber).join(' / ')}</a>
        </span>
      ))}
    </p>
  );
}
