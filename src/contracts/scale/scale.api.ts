import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import type { CreateScaleTicketRequest, CreateScaleTicketResponse } from './scale.dto.js';

/** Scale API 1.0.0 (sections 2.2, 2.3, 4.1): hosted by the platform, called by partners. */
export const SCALE_API = defineApi({
  name: 'scale',
  title: 'Scale API',
  version: '1.0.0',
  prefix: '/platform-api/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: { createTicket: { method: 'POST', path: '/tickets' } },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'VALIDATION_ERROR'],
  errors: { ...COMMON_ERRORS, ruleViolated: 'VALIDATION_ERROR' },
});

/** `Replay` is the type of a repeated response: the text of the first one (decision 16). */
export interface ScaleApi<Caller, Replay = never> {
  createTicket(request: CreateScaleTicketRequest, caller: Caller): Promise<CreateScaleTicketResponse | Replay>;
}
