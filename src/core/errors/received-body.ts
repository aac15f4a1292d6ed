import { isDoubtfulText } from '../../contracts/common/json.js';

/** A parsed JSON body on its way from `@JsonBody()` to the validation pipe. */
export class ReceivedBody {
  /** Whether the text has to be checked by decision 8. */
  readonly isDoubtful: boolean;

  /** `reportIgnored` names the unknown fields in the response (decision 51). */
  constructor(
    readonly value: unknown,
    text: string,
    readonly reportIgnored: (() => void) | undefined,
  ) {
    this.isDoubtful = isDoubtfulText(text);
  }
}
