import type { OpenAPIObject } from '@nestjs/swagger';
import { kindOf } from '../contracts/common/api-contract.js';

interface Response {
  headers?: Record<string, unknown>;
}

interface Operation {
  responses?: Record<string, Response | { readonly $ref: string }>;
}

/**
 * The document with its common headers and refusals once, under `components`: each operation refers to them. They are two thirds
 * of a document otherwise.
 */
export function withSharedParts(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item as Record<string, Operation>));
  const headers: Record<string, unknown> = {};
  for (const response of operations.flatMap(({ responses = {} }) => Object.values(responses) as Response[])) {
    response.headers = Object.fromEntries(
      Object.entries(response.headers ?? {}).map(([name, header]) => {
        headers[name] ??= header;
        const isShared = JSON.stringify(headers[name]) === JSON.stringify(header);
        return [name, isShared ? { $ref: `#/components/headers/${name}` } : header];
      }),
    );
  }
  const responses = shareRefusals(operations);
  return { ...document, components: { ...document.components, responses, headers } as OpenAPIObject['components'] };
}

/** The most frequent refusal of each status becomes shared, by the name of its kind; the others stay with their operations. */
function shareRefusals(operations: readonly Operation[]): Record<string, unknown> {
  const counts = new Map<string, Map<string, number>>();
  for (const { responses = {} } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (kindOf(Number(status)) === undefined) continue;
      const texts = counts.get(status) ?? new Map<string, number>();
      const text = JSON.stringify(response);
      counts.set(status, texts.set(text, (texts.get(text) ?? 0) + 1));
    }
  }
  const shared: Record<string, unknown> = {};
  for (const [status, texts] of counts) {
    const [common] = [...texts].sort(([, a], [, b]) => b - a);
    const name = kindOf(Number(status));
    if (common === undefined || name === undefined || common[1] === 1) continue;
    shared[name] = JSON.parse(common[0]) as object;
    for (const { responses = {} } of operations) {
      if (JSON.stringify(responses[status]) === common[0])
        responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}
