/** The column types of schema.ts, read with the compiler because types do not exist at run time. */
import { join } from 'node:path'
import { API, type Checker, type Type, TypeFlags } from 'typescript/unstable/sync'

export type TypedColumn = {
  /** `string`, `bigint[]`, `Date`, `object`, … */
  type: string
  isNullable: boolean
  /** An insert may omit the column. */
  isOptional: boolean
  /** The only strings that the column may contain; null if its type names none. */
  values: string[] | null
}

const ROOT = join(import.meta.dirname, '../..')
const SCHEMA = join(ROOT, 'gateway/db/schema.ts')
/** An in-memory project with only the schema. With the real one, the compiler would read every source. */
const CONFIG = join(ROOT, 'tsconfig.schema.json')
const CONFIG_TEXT = JSON.stringify({ extends: './tsconfig.base.json', files: [SCHEMA] })

/** Returns every column of every table, as `table.column`. */
export function typedColumns(): Map<string, TypedColumn> {
  const api = new API({
    cwd: ROOT,
    fs: {
      readFile: (file) => (file === CONFIG ? CONFIG_TEXT : undefined),
      fileExists: (file) => file === CONFIG || undefined,
    },
  })
  try {
    const project = api.updateSnapshot({ openProjects: [CONFIG] }).getProject(CONFIG)
    if (project === undefined) throw new Error(`The compiler opened no project for ${SCHEMA}.`)
    const { checker, program } = project
    const file = program.getSourceFile(SCHEMA)
    const module = file && checker.getSymbolAtLocation(file)
    const tables = module && checker.getExportsOfModule(module).find(({ name }) => name === 'Tables')
    if (tables === undefined) throw new Error(`${SCHEMA} exports no type Tables.`)
    return columnsOf(checker, checker.getDeclaredTypeOfSymbol(tables))
  } finally {
    api.close()
  }
}

function columnsOf(checker: Checker, tables: Type): Map<string, TypedColumn> {
  const columns = propertiesOf(checker, tables).flatMap(([table, row]) =>
    propertiesOf(checker, row).map(
      ([column, type]) => [`${table}.${column}`, columnOf(checker, type)] as const,
    ),
  )
  return new Map(columns)
}

function propertiesOf(checker: Checker, type: Type): [string, Type][] {
  return checker.getPropertiesOfType(type).map((property) => {
    const propertyType = checker.getTypeOfSymbol(property)
    if (propertyType === undefined) throw new Error(`${property.name} has no type.`)
    return [property.name, propertyType]
  })
}

/** Kysely's ColumnType, from which Generated and JSONColumnType are made, has one property for each of its types. */
function columnOf(checker: Checker, type: Type): TypedColumn {
  const parts = new Map(propertiesOf(checker, type))
  const selected = parts.get('__select__') ?? type
  const inserted = parts.get('__insert__') ?? type
  const isNullable = membersOf(selected).some(({ flags }) => (flags & TypeFlags.Null) !== 0)
  const isOptional = membersOf(inserted).some(
    ({ flags }) => (flags & (TypeFlags.Nullable | TypeFlags.Never)) !== 0,
  )
  const value = checker.getNonNullableType(selected) ?? selected
  const element =
    checker.isArrayType(value) && value.isTypeReference() ? checker.getTypeArguments(value)[0] : undefined
  const members = membersOf(element ?? value)
  const texts = members.flatMap((member) => (member.isStringLiteralType() ? [member.value] : []))
  const areTexts = texts.length === members.length
  const name = areTexts ? 'string' : nameOf(checker, element ?? value)
  return {
    type: element === undefined ? name : `${name}[]`,
    isNullable,
    isOptional,
    values: areTexts ? texts.sort() : null,
  }
}

const membersOf = (type: Type): readonly Type[] => (type.isUnionType() ? type.getTypes() : [type])

const NAMED = ['string', 'number', 'bigint', 'boolean', 'Date', 'Buffer']

/** Any other type is an object, which the database stores as JSON. */
function nameOf(checker: Checker, type: Type): string {
  const text = checker.typeToString(type).replace(/<.*>$/, '')
  return NAMED.includes(text) ? text : 'object'
}
