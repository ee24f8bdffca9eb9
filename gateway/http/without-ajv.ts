/** Shortens the start: Fastify loads Ajv and a serializer unless it is given other compiler factories. */
const noCompiler = (): never => {
  throw new Error('a route has a schema, but its server has no compiler for schemas')
}

/** For a server that sets zod's compilers, or whose routes have no schemas. */
export const WITHOUT_AJV = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } }
