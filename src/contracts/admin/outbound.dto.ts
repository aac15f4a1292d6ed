import { Flag, Text, Time } from '../common/fields/decorators.js';
import { example, optional, between } from '../common/fields/options.js';

export class OutboundRequest {
  @Flag('false: no partner is called, on any instance', example(false)) enabled!: boolean;
  @Text('Why, for those who wonder later', between(1, 500), optional, example('restored from a backup of 2026-11-25'))
  reason?: string;
}

/** Whether partners are called. */
export class OutboundState {
  @Flag('Whether partners are called and files are fetched', example(false)) enabled!: boolean;
  @Text('Why not; absent while they are', optional, example('restored from a backup of 2026-11-25')) reason?: string;
  @Time('Since when; absent while they are, and where the environment says so', optional) since?: string;
}
