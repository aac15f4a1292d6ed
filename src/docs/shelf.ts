import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { HttpServer } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { AppError } from '../errors/app-error.js';
import { PAGE_HEADERS } from '../http/headers.js';
import { etagOf, isMissing, readOnce, sendShared } from '../http/static-files.js';

/** Stands for the address of the service in pages and clients: `scripts/build-docs.mjs` puts it there. */
const PLACEHOLDER = 'https://address-of-this-service.invalid';

/** Styles and the one script come from this service, and no form or frame has a use. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: ReadonlyMap<string, string> = new Map([
  ...PAGE_HEADERS,
  ['Content-Security-Policy', CONTENT_SECURITY_POLICY],
  ['Cache-Control', 'no-cache'],
]);

/** Patterns of the addresses. The last one also has the files of Swagger UI, which are registered before. */
const ROUTES = ['/docs/guides', '/docs/guides/:name', '/docs/clients', '/docs/clients/:folder/:name', '/docs/:name'];

/** A file of the build, and how it is sent. */
interface ShelvedFile {
  readonly file: string;
  readonly type: string;
}

/** The pieces of a file between the places of the address. All responses share their bytes. */
interface Shelved {
  readonly type: string;
  readonly parts: readonly Buffer[];
  readonly digest: string;
}

export type AddressOf = (request: Request) => string;

/**
 * Serves the guides, the clients, the conformance kit and the other documents of the build, with the address at which the
 * caller reaches the service. A file is read at its first request.
 */
export function serveShelf(app: NestExpressApplication, addressOf: AddressOf): void {
  const adapter: HttpServer = app.getHttpAdapter();
  const shelf = new Shelf(join(dirname(findPackageJSON(import.meta.url) ?? ''), 'dist/docs'));
  const send = async (request: Request, response: Response) => {
    const path = request.path.replace(/(?<=.)\/$/, '');
    const found = await shelf.open(path);
    if (found === undefined) throw new AppError('notFound', `no document at ${path}; /docs/guides lists all of them`);
    const address = addressOf(request);
    const inserted = Buffer.from(found.type.startsWith('text/html') ? escapeHtml(address) : address);
    const parts = found.parts.flatMap((part, index) => (index === 0 ? [part] : [inserted, part]));
    response.setHeaders(HEADERS as Map<string, string>);
    sendShared(request, response, { parts, etag: etagOf(found.digest + address) }, found.type);
  };
  for (const route of ROUTES) adapter.get(route, send);
}

class Shelf {
  private readonly list = readOnce(() => this.readList());
  private readonly files = new Map<string, () => Promise<Shelved>>();

  constructor(private readonly folder: string) {}

  /** Undefined if the build has no document at this address. */
  async open(path: string): Promise<Shelved | undefined> {
    const listed = (await this.list()).get(path);
    if (listed === undefined) return undefined;
    const read = this.files.get(path) ?? readOnce(() => this.read(listed));
    this.files.set(path, read);
    return read();
  }

  private async readList(): Promise<ReadonlyMap<string, ShelvedFile>> {
    const text = await readFile(join(this.folder, 'shelf.json'), 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '{}';
      throw error;
    });
    return new Map(Object.entries(JSON.parse(text) as Record<string, ShelvedFile>));
  }

  private async read({ file, type }: ShelvedFile): Promise<Shelved> {
    const text = await readFile(join(this.folder, file), 'utf8');
    return { type, parts: text.split(PLACEHOLDER).map((part) => Buffer.from(part)), digest: etagOf(text) };
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
