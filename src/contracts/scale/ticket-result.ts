/** What became of a push (decision 21). */
export const TICKET_RESULTS = ['created', 'updated', 'stale', 'unchanged'] as const;
export type TicketResult = (typeof TICKET_RESULTS)[number];

/** The response header that reports it. */
export const RESULT_HEADER = 'Ticket-Result';
