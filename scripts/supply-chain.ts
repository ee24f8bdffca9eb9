/** Rules for the packages of the lock file: their origin, their install scripts, and known vulnerabilities. */
import { z } from 'zod'

const namesSchema = z.record(z.string(), z.string()).optional()

const packageSchema = z.object({
  name: z.string().optional(),
  dependencies: namesSchema,
  optionalDependencies: namesSchema,
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
})

export const lockSchema = z.object({
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), packageSchema),
})

const advisorySchema = z.strictObject({
  id: z.string().regex(/^GHSA(?:-[0-9a-z]{4}){3}$/),
  package: z.string(),
  /** Affected versions, as a range in npm's syntax. */
  range: z.string(),
  severity: z.enum(['low', 'moderate', 'high', 'critical']),
  title: z.string(),
})

export const advisoriesSchema = z.strictObject({
  /** The date of the last request for new advisories. */
  asOf: z.iso.date(),
  advisories: z.array(advisorySchema),
  /** Advisories that are harmless here, each with the reason. */
  accepted: z.array(z.strictObject({ id: z.string(), package: z.string(), why: z.string().min(20) })),
})

export type Lock = z.infer<typeof lockSchema>
export type Advisory = z.infer<typeof advisorySchema>
export type Advisories = z.infer<typeof advisoriesSchema>

type LockedPackage = { path: string; name: string; version: string }

/** Returns every locked package, by its real name if it has an alias. */
function packagesOf({ packages }: Lock): (LockedPackage & Lock['packages'][string])[] {
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (path === '' || entry.link === true) return []
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return [{ ...entry, path, name, version: entry.version ?? '' }]
  })
}

/**
 * Returns dependencies that the lock file lacks, optional ones included. npm silently leaves out packages that the
 * registry did not offer when the file was written, such as binaries of other platforms. `npm ci` then refuses the file
 * everywhere.
 */
export function missingEntries({ packages }: Lock): string[] {
  const isFound = (from: string, name: string): boolean => {
    if (`${from}node_modules/${name}` in packages) return true
    const folder = from.lastIndexOf('node_modules/')
    return folder >= 0 && isFound(from.slice(0, folder), name)
  }
  return Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isFound(path === '' ? '' : `${path}/`, name))
      .map((name) => `${path || 'the project'} asks for ${name}`),
  )
}

/** Our folder that replaces a package. It has no archive, so it has no checksum. */
const OWN_FOLDER = /(?:^|\/)stubs\/languages$/

/** Returns entries that could install something other than the reviewed code. */
export function oddEntries(lock: Lock): string[] {
  return packagesOf(lock).flatMap(({ path, version, integrity, resolved }) => {
    if (OWN_FOLDER.test(path)) return []
    const problems = [
      ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ? [] : ['has no sha512 checksum']),
      ...(/^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\w.]+)?$/.test(version) ? [] : ['has no exact version']),
      ...(resolved === undefined || resolved.startsWith('https://registry.npmjs.org/')
        ? []
        : [`comes from ${resolved}`]),
    ]
    return problems.map((problem) => `${path} ${problem}`)
  })
}

/** Returns the names of packages that would run a script when installed. */
export function packagesWithScripts(lock: Lock): string[] {
  const withScripts = packagesOf(lock).filter(({ hasInstallScript }) => hasInstallScript === true)
  return [...new Set(withScripts.map(({ name }) => name))].sort()
}

export type Finding = Advisory & { version: string; isAccepted: boolean }

/** Returns the locked versions that have an advisory. */
export function findingsIn(lock: Lock, { advisories, accepted }: Advisories): Finding[] {
  return packagesOf(lock).flatMap(({ name, version }) =>
    advisories
      .filter((advisory) => advisory.package === name && isInRange(version, advisory.range))
      .map((advisory) => ({
        ...advisory,
        version,
        isAccepted: accepted.some((each) => each.id === advisory.id && each.package === name),
      })),
  )
}

/** Whether a range contains the version. Comparisons separated by spaces must all hold; `||` separates alternatives. */
export function isInRange(version: string, range: string): boolean {
  return range.split('||').some((part) => {
    const comparisons = part
      .trim()
      .replaceAll(/([<>=]) /g, '$1')
      .split(' ')
    return comparisons.every((comparison) => satisfies(version, comparison))
  })
}

function satisfies(version: string, comparison: string): boolean {
  if (comparison === '*' || comparison === '') return true
  const [, sign = '', bound = ''] = /^([<>]?=?)(\d.*)$/.exec(comparison) ?? fail(comparison)
  const order = compareVersions(version, bound)
  if (order === 0) return sign !== '<' && sign !== '>'
  return order < 0 ? sign.startsWith('<') : sign.startsWith('>')
}

function fail(comparison: string): never {
  throw new Error(`An advisory has an unknown form of range: ${comparison}`)
}

/** A pre-release (`1.0.0-beta`) is lower than its release; two pre-releases of one release count as equal. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)]
  for (const [at, number] of a.entries()) if (number !== b[at]) return number - (b[at] ?? 0)
  return Number(other.includes('-')) - Number(one.includes('-'))
}

function numbersOf(version: string): number[] {
  const numbers = (version.split('-')[0] ?? '').split('.').map(Number)
  return [0, 1, 2].map((at) => numbers[at] ?? 0)
}

/** The part of `npm audit --json` that is used. A string in `via` names another package of the report. */
const reportSchema = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      via: z.array(
        z.union([
          z.string(),
          z.object({
            name: z.string(),
            title: z.string(),
            url: z.string(),
            range: z.string(),
            severity: advisorySchema.shape.severity,
          }),
        ]),
      ),
    }),
  ),
})

/**
 * Adds the report's new and corrected entries to the list. Old entries stay, because an old version must not come back.
 */
export function withReport(list: Advisories, report: unknown, asOf: string): Advisories {
  const { vulnerabilities } = reportSchema.parse(report)
  const known = new Map(list.advisories.map((advisory) => [keyOf(advisory), advisory]))
  for (const { via } of Object.values(vulnerabilities))
    for (const cause of via) {
      if (typeof cause === 'string') continue
      const { name, title, range, severity, url } = cause
      const advisory = { id: url.slice(url.lastIndexOf('/') + 1), package: name, range, severity, title }
      known.set(keyOf(advisory), advisory)
    }
  const advisories = [...known.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return advisoriesSchema.parse({ ...list, asOf, advisories })
}

const keyOf = (advisory: Pick<Advisory, 'id' | 'package'>): string => `${advisory.package} ${advisory.id}`
