/** Injection token of the `OutboundPolicy` (decision 50). */
export const OUTBOUND_POLICY = Symbol('OUTBOUND_POLICY');
