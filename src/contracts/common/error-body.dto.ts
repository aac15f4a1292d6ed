import { ApiProperty } from '@nestjs/swagger';

export class ErrorBody {
  @ApiProperty({
    description: 'Machine-readable code, from the closed set of this interface',
    maxLength: 64,
    example: 'INVALID_PAYLOAD',
  })
  code!: string;

  @ApiProperty({
    description: 'Sentence for a person',
    maxLength: 100_000,
    example: 'materials[2].quantity must be a finite number',
  })
  message!: string;

  @ApiProperty({
    description: 'More about the error, such as every offending field under `violations`',
    selfRequired: false,
    type: 'object',
    additionalProperties: true,
    example: {
      violations: [
        { path: 'materials[2].quantity', rule: 'isNumber', message: 'materials[2].quantity must be a finite number' },
      ],
    },
  })
  details?: Record<string, unknown>;
}

/** The common error body (section 2.1). */
export class ErrorResponse {
  @ApiProperty({ description: 'Always false', enum: [false], example: false })
  success!: false;

  @ApiProperty({ description: 'What went wrong', type: () => ErrorBody })
  error!: ErrorBody;
}
