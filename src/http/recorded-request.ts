import type { Request } from 'express';
import type { InjectedScenario } from '../contracts/sandbox/scenarios.js';

/** A request of one of the four interfaces. `exchangeId` is absent if no exchange is recorded. */
export interface RecordedRequest extends Request {
  exchangeId?: string;
}

/** A request of one of the four interfaces. `scenario` names the fault that the sandbox injects into its response. */
export interface FaultedRequest extends Request {
  scenario?: InjectedScenario;
}
