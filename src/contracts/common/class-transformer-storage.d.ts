/** The package ships this module without its declaration; `reader.ts` compiles what `@Type` and `@Transform` registered there. */
declare module 'class-transformer/cjs/storage.js' {
  import type { TransformationType, TransformFnParams } from 'class-transformer';

  export const defaultMetadataStorage: {
    findTypeMetadata(target: unknown, property: string): { typeFunction: () => unknown } | undefined;
    findTransformMetadatas(
      target: unknown,
      property: string,
      type: TransformationType,
    ): { transformFn: (params: TransformFnParams) => unknown }[];
  };
}
