import type { Env } from './env.js';

type Switches = Pick<Env, 'IN_PRODUCTION' | 'OUTBOUND_ALLOW_PRIVATE' | 'DEMO' | 'SANDBOX'>;

const WARNINGS: readonly (readonly [name: keyof Switches, consequence: string])[] = [
  ['OUTBOUND_ALLOW_PRIVATE', 'a connection or a link may call http and addresses of the private network'],
  ['DEMO', 'a demo hauler, demo keys and demo data are in the database'],
  ['SANDBOX', 'callers with a key may inject faults and move the clock of the reference partner'],
];

/** What is switched on in production although it is meant for development, one sentence each. */
export const productionWarnings = (env: Switches): string[] =>
  env.IN_PRODUCTION
    ? WARNINGS.flatMap(([name, consequence]) =>
        env[name] ? [`${name} is on in production: ${consequence}. Set ${name}=false unless it is meant.`] : [],
      )
    : [];
