import { BooleanField, InstantField, TextField } from '../common/fields/scalar-fields.js';

const REASON = { max: 500, example: 'restored from a backup of 2026-11-25' };

export class OutboundRequest {
  @BooleanField({ description: 'false: no partner is called, on any instance', example: false })
  enabled!: boolean;

  @TextField({ ...REASON, description: 'Why, for those who wonder later', min: 1, optional: true })
  reason?: string;
}

/** Whether partners are called. */
export class OutboundState {
  @BooleanField({ description: 'Whether partners are called and files are fetched', example: false })
  enabled!: boolean;

  @TextField({ ...REASON, description: 'Why not; absent while they are', optional: true })
  reason?: string;

  @InstantField({
    description: 'Since when; absent while they are, and where the environment says so',
    optional: true,
    example: '2026-11-26T08:00:00Z',
  })
  since?: string;
}
