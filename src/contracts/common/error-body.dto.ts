import { Documented } from './fields/documented.js';

/** Without `details`: the error of the continuous list (section 2.1). */
export class PlainErrorBody {
  @Documented({
    // The documents put the closed set of each interface here.
    description: 'Machine-readable code, from the closed set of this interface',
    maxLength: 64,
    example: 'INVALID_PAYLOAD',
  })
  code!: string;

  @Documented({
    description: 'Sentence for a person',
    maxLength: 100_000,
    example: 'materials[2].quantity must be a finite number',
  })
  message!: string;
}

class ErrorViolation {
  @Documented({ description: 'The field', maxLength: 4096, example: 'materials[2].quantity' })
  path!: string;

  @Documented({ description: 'The violated rule', maxLength: 64, example: 'isNumber' })
  rule!: string;

  @Documented({
    description: 'A sentence for a person',
    maxLength: 100_000,
    example: 'materials[2].quantity must be a finite number',
  })
  message!: string;
}

/** The members that the interfaces use; more may follow. */
class ErrorDetails {
  @Documented({
    description:
      'Every violation. Of invalid text and nesting only the first are listed; then the last element has the path `""` ' +
      'and the rule `maxFaults`.',
    required: false,
    type: () => [ErrorViolation],
  })
  violations?: ErrorViolation[];

  @Documented({
    description: 'Machine-readable reason of a 409 or 422',
    required: false,
    maxLength: 64,
    example: 'FLOW_CONFLICT',
  })
  reason?: string;

  @Documented({ description: 'On 500: the id of the incident', required: false, maxLength: 128, example: 'req-4711' })
  requestId?: string;

  @Documented({
    description: 'Address of the page with cause and remedy, if the operator set the public address',
    required: false,
    maxLength: 4096,
    example: 'https://haulbridge.example/docs/errors#INVALID_PAYLOAD',
  })
  help?: string;

  @Documented({ description: 'Id of the existing account', required: false, maxLength: 36, example: 'a-4711' })
  accountId?: string;

  @Documented({ description: 'Number of the existing account', required: false, maxLength: 32, example: 'A-1042' })
  accountNumber?: string;
}

export class ErrorBody extends PlainErrorBody {
  @Documented({
    description: 'More about the error',
    required: false,
    type: () => ErrorDetails,
    example: {
      violations: [
        { path: 'materials[2].quantity', rule: 'isNumber', message: 'materials[2].quantity must be a finite number' },
      ],
    },
  })
  details?: Readonly<Record<string, unknown>>;
}

class ErrorMark {
  @Documented({ description: 'Always false', enum: [false], example: false })
  success!: false;
}

/** The common error body (section 2.1). */
export class ErrorResponse extends ErrorMark {
  @Documented({ description: 'What went wrong', type: () => ErrorBody })
  error!: ErrorBody;
}

/** The error body of the continuous list (section 2.1). */
export class PlainErrorResponse extends ErrorMark {
  @Documented({ description: 'What went wrong', type: () => PlainErrorBody })
  error!: PlainErrorBody;
}
