import { ApiProperty } from '@nestjs/swagger';

/** Without `details`: the error of the continuous list (section 2.1). */
export class PlainErrorBody {
  @ApiProperty({
    // The documents put the closed set of each interface here.
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
}

export class ErrorBody extends PlainErrorBody {
  @ApiProperty({
    description:
      'More about the error, such as every offending field under `violations`: of what a text cannot be (U+0000, lone ' +
      'surrogates, nesting deeper than 32) the first 100 or some 64 KB, and then, where there is more of it, a last one ' +
      'with the path `""` and the rule `maxFaults`',
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

class ErrorMark {
  @ApiProperty({ description: 'Always false', enum: [false], example: false })
  success!: false;
}

/** The common error body (section 2.1). */
export class ErrorResponse extends ErrorMark {
  @ApiProperty({ description: 'What went wrong', type: () => ErrorBody })
  error!: ErrorBody;
}

/** The error body of the continuous list (section 2.1). */
export class PlainErrorResponse extends ErrorMark {
  @ApiProperty({ description: 'What went wrong', type: () => PlainErrorBody })
  error!: PlainErrorBody;
}
