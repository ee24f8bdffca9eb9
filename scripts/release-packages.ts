/**
 * The packages of a release: those that the server and the vault need, according to the lock file and npm's record of
 * the installation.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Entry } from './archive.ts'

const packageSchema = z.object({
  version: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
})

const lockSchema = z.object({ packages: z.record(z.string(), packageSchema) })

export type LockFile = z.infer<typeof lockSchema>

export type ProductionPackage = {
  /** Path from the root, such as `node_modules/pg`. */
  path: string
  name: string
  version: string
  /** The checksum in npm's form; undefined for our own folder, stubs/languages. */
  integrity: string | undefined
  license: string | undefined
}

export const readLock = (file: string): LockFile => lockSchema.parse(JSON.parse(readFileSync(file, 'utf8')))

const FOLDER = 'node_modules/'

/** Leaves out packages for development, and optional ones, such as those for a single platform. */
export function productionPackages({ packages }: LockFile): ProductionPackage[] {
  return Object.entries(packages).flatMap(([path, { version, integrity, license, ...marks }]) => {
    if (!path.startsWith(FOLDER) || path.includes('/stubs/')) return []
    if (marks.dev || marks.optional || marks.devOptional) return []
    const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)
    return [{ path, name, version: version ?? '0.0.0', integrity, license }]
  })
}

/** Returns packages that differ from the lock file, according to npm's record of what it checked and installed. */
export function differentPackages(wanted: readonly ProductionPackage[], installed: LockFile): string[] {
  return wanted
    .filter(({ path, integrity }) => {
      const found = installed.packages[path]
      return found === undefined || found.integrity !== integrity
    })
    .map(({ path }) => path)
}

/** Files to leave out, because none of them runs: maps, types, uncompiled sources and manuals. Licences stay. */
const NOT_SHIPPED = /\.(?:map|d\.[cm]?ts|[cm]?ts|tsx|flow|markdown|md|tsbuildinfo)$/i
const LICENCE = /licen[sc]e|copying|notice/i

/** Returns the files of a package, except those of packages inside it, which have their own entries. */
export function filesOfPackage(root: string, { path }: Pick<ProductionPackage, 'path'>): Entry[] {
  const walk = (folder: string): Entry[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((each): Entry[] => {
      const file = `${folder}/${each.name}`
      if (each.isDirectory()) return each.name === 'node_modules' ? [] : walk(file)
      if (NOT_SHIPPED.test(each.name) && !LICENCE.test(each.name)) return []
      return [{ kind: 'file', path: file, content: readFileSync(join(root, file)) }]
    })
  return walk(path)
}

/**
 * A bill of materials: CycloneDX 1.6. It has no time and no serial number, so the same packages give the same bytes.
 */
export function billOf(packages: readonly ProductionPackage[], version: string): string {
  const components = packages.map((each) => ({
    type: 'library',
    name: each.name,
    version: each.version,
    purl: `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`,
    ...(each.license === undefined ? {} : { licenses: [{ license: { name: each.license } }] }),
    ...(each.integrity === undefined ? {} : { hashes: [hashOf(each.integrity)] }),
  }))
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: 'tradetill', version } },
    components,
  }
  return `${JSON.stringify(bill, null, 1)}\n`
}

/** Converts a checksum from npm's form, `sha512-` and base64, to the hex of a bill of materials. */
function hashOf(integrity: string): { alg: string; content: string } {
  const base64 = integrity.slice(integrity.indexOf('-') + 1)
  return { alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }
}
