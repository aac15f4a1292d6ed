import { SCALE_API } from '../contracts/scale/scale.api.js';
import { violated } from '../errors/app-error.js';
import { exampleOf, type Failure } from '../http/route-documentation.js';
import { REPLAYED_HEADER } from '../idempotency/documentation.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { brokenRules } from './business-rules.js';
import { flowConflict } from './ticket-writer.js';

const unknownMaterial = () =>
  violated(
    SCALE_API,
    'ruleViolated',
    brokenRules({ haulerId: '', siteId: '', materialIds: [''] }, { hasSite: () => true, sitesOf: () => undefined }),
  );

/** What the document tells of 422 (decisions 16, 20 and 24). */
export const REFUSED: Failure = {
  description:
    'A business rule is violated: `details.violations` names every offending element. `details.reason` is `FLOW_CONFLICT` ' +
    'where the two flows belong to different tickets, and `IDEMPOTENCY_KEY_REUSED` where the key was used with another body',
  headers: REPLAYED_HEADER,
  examples: {
    'an unknown material': exampleOf(SCALE_API, unknownMaterial()),
    'flows of two tickets': exampleOf(SCALE_API, flowConflict()),
    'a key that was used with another body': exampleOf(SCALE_API, keyReused(SCALE_API, 'ruleViolated')),
  },
};
