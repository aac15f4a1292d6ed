import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const STATEMENT = '/\\bSELECT\\b[^;]*\\bFROM\\b|\\bINSERT INTO\\b|\\bDELETE FROM\\b|\\bUPDATE [^;\\n]+\\bSET\\b/';
const SQL = [`Literal[value=${STATEMENT}]`, `TemplateElement[value.raw=${STATEMENT}]`].map((selector) => ({
  selector,
  message: 'The SQL of tables stands in a *.repository.ts or *.sql.ts.',
}));
const DTO = 'ImportDeclaration[source.value=/[.]dto[.]js$/]';
const TYPE_OF_DTO = {
  selector: `${DTO}[importKind="type"], ${DTO} > ImportSpecifier[importKind="type"]`,
  message: 'A type import of a DTO switches off the validation of the body.',
};

export default tseslint.config(
  { ignores: ['dist/', '.dist-new/', '.dist-old/', 'data/', 'node_modules/', 'coverage/', 'clients/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./test/tsconfig.json', './src/console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-params': ['error', 6],
    },
  },
  {
    files: ['**/*.mjs', '**/*.js', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        module: 'writable',
        fetch: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  {
    // In a test an unhandled rejection fails the run, as it should. In the service it would end the process.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }] },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config reads the environment.' },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.{repository,sql}.ts', 'src/{database,embedded-postgres}/**'],
    rules: { 'no-restricted-syntax': ['error', ...SQL] },
  },
  { files: ['src/**/*.controller.ts'], rules: { 'no-restricted-syntax': ['error', ...SQL, TYPE_OF_DTO] } },
  { files: ['src/**/*.tsx'], rules: { 'no-console': 'error' } },
  { files: ['src/config/**/*.ts'], rules: { 'no-restricted-properties': 'off' } },
  prettier,
);
