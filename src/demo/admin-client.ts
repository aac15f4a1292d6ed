/** What the demo could not do, and what the admin API said. */
export class DemoFault extends Error {}

/** The demo sets itself up as an administrator would: through the admin API, over HTTP. */
export class AdminClient {
  constructor(
    private readonly baseUrl: string,
    private readonly token: string,
  ) {}

  async get<T>(path: string): Promise<T | undefined> {
    const response = await this.send('GET', path);
    if (response.status === 404) return undefined;
    return this.read<T>(response, path);
  }

  async json<T>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown): Promise<T> {
    const response = await this.send(method, path, JSON.stringify(body), 'application/json');
    return this.read<T>(response, path);
  }

  async delete(path: string): Promise<void> {
    await this.read(await this.send('DELETE', path), path);
  }

  /** False where the same upload is there already. */
  async upload(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const response = await this.send('POST', path, bytes, 'video/mp4');
    if (response.status === 409) return false;
    await this.read(response, path);
    return true;
  }

  private send(
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    type?: string,
  ): Promise<Response> {
    return fetch(`${this.baseUrl}/admin/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(type === undefined ? {} : { 'Content-Type': type }) },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(30_000),
    });
  }

  private async read<T>(response: Response, path: string): Promise<T> {
    const text = await response.text();
    if (!response.ok) throw new DemoFault(`${path} answered ${response.status}: ${text.slice(0, 300)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
