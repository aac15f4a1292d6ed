import type { Application, Request } from 'express';

/** Key of a setting of the Express application. */
const HELP = 'haulbridge help address';

/** Errors name the page about them: `<publicUrl>/docs/errors#CODE`. */
export function setHelpAddress(application: Application, publicUrl: string | undefined): void {
  if (publicUrl !== undefined) application.set(HELP, `${publicUrl.replace(/\/+$/, '')}/docs/errors`);
}

/** Undefined without `PUBLIC_URL`. */
export const helpAddressOf = ({ app }: Pick<Request, 'app'>): string | undefined => app.get(HELP) as string | undefined;
