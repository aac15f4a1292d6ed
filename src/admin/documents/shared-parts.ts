import { kindOf } from '../../contracts/common/api-contract.js';

type Holder = Record<string, object>;

export interface ShareableOperation {
  parameters: { readonly name: string }[];
  responses: Record<string, { headers: Holder }>;
}

/** A part of an operation, under the name that its component would have. */
interface Place {
  readonly name: string;
  readonly part: string;
  readonly holder: Holder;
  readonly key: string;
}

/**
 * Makes components of the headers, parameters and refusals that several operations have, and puts references in their places.
 * They are two thirds of a document otherwise.
 */
export function shareParts(operations: readonly ShareableOperation[]): Readonly<Record<string, Holder>> {
  const headers = operations.flatMap(({ responses }) => Object.values(responses).map((each) => each.headers));
  const parameters = operations.map((each) => each.parameters as unknown as Holder);
  const responses = operations.map((each) => each.responses as Holder);
  return {
    headers: share('headers', headers, (name) => name),
    parameters: share('parameters', parameters, (_, { name }: { name?: string }) => name),
    responses: share('responses', responses, (status) => kindOf(Number(status))),
  };
}

/** The most frequent part of each name becomes the component; the others stay where they are. */
function share(section: string, holders: readonly Holder[], nameOf: (key: string, part: object) => string | undefined) {
  const places = holders.flatMap((holder) =>
    Object.entries(holder).flatMap(([key, part]): Place[] => {
      const name = nameOf(key, part);
      return name === undefined ? [] : [{ name, part: JSON.stringify(part), holder, key }];
    }),
  );
  const components: Holder = {};
  for (const [name, named] of Map.groupBy(places, (place) => place.name)) {
    const [common = []] = [...Map.groupBy(named, ({ part }) => part).values()].sort((a, b) => b.length - a.length);
    const [first] = common;
    if (first === undefined || common.length === 1) continue;
    components[name] = JSON.parse(first.part) as object;
    for (const { holder, key } of common) holder[key] = { $ref: `#/components/${section}/${name}` };
  }
  return components;
}
