import { Command } from 'commander';
import { CommandFailed } from './command-failed.js';
import { inOptions } from './input.js';
import { render } from './output.js';
import { type Services, withServices } from './services.js';

/** Where commands write; tests give their own. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Makes a commander action of what a command does: opens the services, does the work with the command's arguments and
 * options, prints what it returns. Throws what the work throws.
 */
export type Action = <Input extends unknown[]>(
  work: (services: Services, ...input: Input) => Promise<unknown>,
) => (...input: [...Input, Command]) => Promise<void>;

/** An answer that is printed, and that ends the command as a failure none the less. */
export class FailedWithAnswer {
  constructor(
    readonly answer: unknown,
    readonly reason: string,
  ) {}
}

/** An answer that would leave people without a word: they read the sentence after it. */
export class AnswerWithSentence {
  constructor(
    readonly answer: unknown,
    readonly sentence: string,
  ) {}
}

/** A group of commands about one thing, such as `key`. */
export type CommandGroup = (action: Action) => Command;

export function actionOn(streams: Streams): Action {
  return <Input extends unknown[]>(work: (services: Services, ...input: Input) => Promise<unknown>) =>
    async (...given: [...Input, Command]) => {
      const command = given.at(-1) as Command;
      const input = given.slice(0, -1) as Input;
      const answer = await withServices((services) => work(services, ...input), streams.err).catch((error: unknown) => {
        throw inOptions(error, command);
      });
      const asJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
      const wrapped = answer instanceof FailedWithAnswer || answer instanceof AnswerWithSentence;
      streams.out(render(wrapped ? answer.answer : answer, asJson));
      if (answer instanceof AnswerWithSentence && !asJson) streams.out(`${answer.sentence}\n`);
      if (answer instanceof FailedWithAnswer) throw new CommandFailed(answer.reason);
    };
}
