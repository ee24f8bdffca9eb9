/**
 * Loads the sources again with a defence switched off. If the URL of a module ends in `?without=ID`, a hook gives the
 * same ending to every source that it imports. So Node loads all of them again, and another hook applies the changes.
 */
import { readFileSync } from 'node:fs'
import { type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Change } from './attack.ts'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = `${pathToFileURL(ROOT).href}/`
const PACKAGES = `${SOURCES}node_modules/`

const changesById = new Map<string, readonly Change[]>()
let areHooksRegistered = false

/** Resolves to the module `file`, a path from the root, in a project with these changes. */
export async function importWithout(file: string, changes: readonly Change[]): Promise<unknown> {
  if (!areHooksRegistered) registerHooks({ resolve, load })
  areHooksRegistered = true
  const id = String(changesById.size + 1)
  changesById.set(id, changes)
  return import(`${SOURCES}${file}?without=${id}`)
}

const idOf = (url: string | undefined): string | undefined =>
  url?.startsWith(SOURCES) === true ? (/\?without=(\d+)$/.exec(url)?.[1] ?? undefined) : undefined

const resolve: ResolveHookSync = (specifier, context, next) => {
  const resolved = next(specifier, context)
  const id = idOf(context.parentURL)
  const isOurs = resolved.url.startsWith(SOURCES) && !resolved.url.startsWith(PACKAGES)
  return id === undefined || !isOurs ? resolved : { ...resolved, url: `${resolved.url}?without=${id}` }
}

const load: LoadHookSync = (url, context, next) => {
  const loaded = next(url, context)
  const file = url.slice(SOURCES.length).replace(/\?.*$/, '')
  const changes = (changesById.get(idOf(url) ?? '') ?? []).filter((change) => change.file === file)
  if (changes.length === 0) return loaded
  return { ...loaded, source: changes.reduce(applyChange, String(loaded.source)) }
}

function applyChange(source: string, change: Change): string {
  if (source.split(change.from).length !== 2) throw new Error(misplaced(change))
  return source.replace(change.from, () => change.to)
}

const misplaced = ({ file, from }: Change): string =>
  `${file} must contain this exactly once, so the defence can be switched off: ${from}`

/** Returns a line for each change whose `from` is missing in the sources, or occurs more than once. */
export function misplacedOf(changes: readonly Change[]): string[] {
  return changes
    .filter(({ file, from }) => readFileSync(join(ROOT, file), 'utf8').split(from).length !== 2)
    .map(misplaced)
}
