import { Command } from 'commander';
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

/** A group of commands about one thing, such as `key`. */
export type CommandGroup = (action: Action) => Command;

export function actionOn(streams: Streams): Action {
  return <Input extends unknown[]>(work: (services: Services, ...input: Input) => Promise<unknown>) =>
    async (...given: [...Input, Command]) => {
      const command = given.at(-1) as Command;
      const input = given.slice(0, -1) as Input;
      const answer = await withServices((services) => work(services, ...input));
      streams.out(render(answer, command.optsWithGlobals<{ json?: boolean }>().json === true));
    };
}
