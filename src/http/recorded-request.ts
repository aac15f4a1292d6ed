import type { Request } from 'express';

/** A request of one of the four interfaces. `exchangeId` is absent where no exchange is recorded. */
export interface RecordedRequest extends Request {
  exchangeId?: string;
}
