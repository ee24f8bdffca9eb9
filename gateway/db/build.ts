/** Identifies this code: its version, the commit of a release, and its schema. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { isRelease, RELEASE_FILE } from '../kit/release.ts'
import { ourVersion } from '../kit/version.ts'
import { migrationFiles } from './schema-version.ts'

const releaseSchema = z.object({ commit: z.string() })

export type Build = {
  version: string
  /** The commit that a release was made from; `sources` outside a release. */
  commit: string
  /** The newest migration, without its `.sql`. */
  schema: string
}

export function ourBuild(): Build {
  const commit = isRelease() ? commitOfRelease() : 'sources'
  const newest = migrationFiles().at(-1)?.name ?? ''
  return { version: ourVersion(), commit, schema: newest.replace(/\.sql$/, '') }
}

const commitOfRelease = (): string =>
  releaseSchema.parse(JSON.parse(readFileSync(RELEASE_FILE, 'utf8'))).commit

export const buildLine = ({ version, commit, schema }: Build): string =>
  `tradetill ${version} (commit ${commit}, schema ${schema}, Node ${process.versions.node})`
