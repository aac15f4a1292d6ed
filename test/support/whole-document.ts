interface Referring {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, Referring>>;
}

interface Operation {
  readonly parameters?: readonly Referring[];
  readonly responses: Readonly<Record<string, Referring>>;
}

type Parts = Readonly<Record<string, Readonly<Record<string, Referring>>>>;

const mapped = <From, To>(all: Readonly<Record<string, From>>, change: (each: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]));

/** A parsed OpenAPI document whose operations have their own copies of the shared parameters, responses and headers. */
export function wholeDocument<Document extends { paths: unknown; components: unknown }>(document: Document): Document {
  const partOf = (given: Referring): Referring => {
    const [section = '', name = ''] = given.$ref?.split('/').slice(2) ?? [];
    return (document.components as Parts)[section]?.[name] ?? given;
  };
  const response = (given: Referring) => {
    const own = partOf(given);
    return { ...own, headers: mapped(own.headers ?? {}, partOf) };
  };
  const operation = (given: Operation) => ({
    ...given,
    ...(given.parameters === undefined ? {} : { parameters: given.parameters.map(partOf) }),
    responses: mapped(given.responses, response),
  });
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  return { ...document, paths: mapped(paths, (item) => mapped(item, operation)) };
}
