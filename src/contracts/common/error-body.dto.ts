import { Json, Nested, NestedList, Text } from './fields/decorators.js';
import { example, optional } from './fields/options.js';

const VIOLATION = {
  path: 'materials[2].quantity',
  rule: 'isNumber',
  message: 'materials[2].quantity must be a finite number',
};

/** Without `details`: the error of the continuous list (section 2.1). */
export class PlainErrorBody {
  // The documents put the closed set of each interface here.
  @Text('Machine-readable code, from the closed set of this interface', example('INVALID_PAYLOAD')) code!: string;
  @Text('Sentence for a person', example(VIOLATION.message)) message!: string;
}

class ErrorViolation {
  @Text('The field', example(VIOLATION.path)) path!: string;
  @Text('The violated rule', example(VIOLATION.rule)) rule!: string;
  @Text('A sentence for a person', example(VIOLATION.message)) message!: string;
}

/** The members that the interfaces use; more may follow. */
class ErrorDetails {
  @NestedList(
    'Every violation. Of invalid text and nesting only the first are listed; then the last element has the path `""` ' +
      'and the rule `maxFaults`.',
    ErrorViolation,
    optional,
  )
  violations?: ErrorViolation[];
  @Text('Machine-readable reason of a 409 or 422', optional, example('FLOW_CONFLICT')) reason?: string;
  @Text('On 500: the id of the incident', optional, example('req-4711')) requestId?: string;
  @Text(
    'Address of the page with cause and remedy, if the operator set the public address',
    optional,
    example('https://haulbridge.example/docs/errors#INVALID_PAYLOAD'),
  )
  help?: string;
  @Text('Id of the existing account', optional, example('a-4711')) accountId?: string;
  @Text('Number of the existing account', optional, example('A-1042')) accountNumber?: string;
}

export class ErrorBody extends PlainErrorBody {
  @Nested('More about the error', ErrorDetails, optional, example({ violations: [VIOLATION] }))
  details?: Readonly<Record<string, unknown>>;
}

class ErrorMark {
  @Json('Always false', { type: 'boolean', enum: [false] }, example(false)) success!: false;
}

/** The common error body (section 2.1). */
export class ErrorResponse extends ErrorMark {
  @Nested('What went wrong', ErrorBody) error!: ErrorBody;
}

/** The error body of the continuous list (section 2.1). */
export class PlainErrorResponse extends ErrorMark {
  @Nested('What went wrong', PlainErrorBody) error!: PlainErrorBody;
}
