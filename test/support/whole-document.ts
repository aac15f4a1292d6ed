interface Referring {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref?: string }>>;
}

interface Parts {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly responses?: Readonly<Record<string, Referring>>;
}

/** A parsed OpenAPI document whose operations have their own copies of the shared responses and headers. */
export function wholeDocument<Document extends { paths: unknown; components: unknown }>(document: Document): Document {
  const { headers = {}, responses = {} } = document.components as Parts;
  const nameIn = ({ $ref = '' }: Referring) => $ref.split('/').at(-1) ?? '';
  const whole = (given: Referring): object => {
    const response = given.$ref === undefined ? given : (responses[nameIn(given)] ?? {});
    const own = Object.entries(response.headers ?? {}).map(([name, header]) => [
      name,
      header.$ref === undefined ? header : headers[nameIn(header)],
    ]);
    return { ...response, headers: Object.fromEntries(own) as object };
  };
  const paths = Object.entries(document.paths as object).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item as Record<string, { responses: Record<string, Referring> }>).map(([method, operation]) => {
        const own = Object.entries(operation.responses).map(([status, response]) => [status, whole(response)]);
        return [method, { ...operation, responses: Object.fromEntries(own) as object }];
      }),
    ) as object,
  ]);
  return { ...document, paths: Object.fromEntries(paths) as object };
}
