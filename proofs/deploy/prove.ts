/**
 * `npm run prove -- deploy`: gives the units and Dockerfiles of `deploy/` to the programs that read them, and runs the
 * proxies in front of a gateway in live mode. Reports missing programs.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { z } from 'zod'
import { buildConsoleIfChanged, buildWidgetIfChanged } from '../../scripts/build-pages.ts'
import { defineProof, keepFlag } from '../proof.ts'
import { withFolder, withServer } from '../server.ts'
import { checkBroken } from './broken.ts'
import { CADDY, NGINX, type ProxyProgram } from './proxies.ts'
import { type Check, checkProxyDuties } from './proxy-duties.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const ROOT = join(DEPLOY, '..')
/** The highest exposure of a service that passes, in tenths of a point on systemd's scale from 0 to 10. */
const MOST_EXPOSURE = '20'

type Result = { file: string; name: string; result: 'accepted' | 'REFUSED' | 'not here'; why: string }

function runProgram(command: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: ROOT })
  return { status, output: `${stdout ?? ''}${stderr ?? ''}`.trim() }
}

const isHere = (command: string, ...args: string[]): boolean => runProgram(command, args).status === 0

/**
 * A file that a program reads. It passes if `program` with `args` ends with code 0. `probe`: an argument with
 * which the program ends with code 0 if it works on this machine.
 */
type Reading = { file: string; name: string; program: string; probe: string; args: readonly string[] }

const UNITS = [
  'tradetill.service',
  'tradetill-vault.service',
  'tradetill-backup.service',
  'tradetill-backup.timer',
  'tradetill-alerts.service',
]
/** The services of the till and of the vault. Only their exposure is limited. */
const SERVICES = UNITS.slice(0, 2)
const IMAGES = ['Dockerfile', 'Dockerfile.demo']

const READINGS: readonly Reading[] = [
  ...UNITS.map((file) => ({
    file,
    name: 'systemd-analyze verify',
    program: 'systemd-analyze',
    probe: '--version',
    args: ['verify', '--man=no', join(DEPLOY, file)],
  })),
  ...SERVICES.map((file) => ({
    file,
    name: `systemd-analyze security, at most ${MOST_EXPOSURE} of 100`,
    program: 'systemd-analyze',
    probe: '--version',
    args: ['security', '--no-pager', '--offline=yes', `--threshold=${MOST_EXPOSURE}`, join(DEPLOY, file)],
  })),
  ...IMAGES.map((file) => ({
    file,
    name: 'a container engine (docker)',
    program: 'docker',
    probe: 'info',
    args: ['build', '-f', join(DEPLOY, file), '-t', 'tradetill-proof', ROOT],
  })),
]

function read({ file, name, program, probe, args }: Reading): Result {
  if (!isHere(program, probe)) return { file, name, result: 'not here', why: '' }
  const { status, output } = runProgram(program, args)
  return { file, name, result: status === 0 ? 'accepted' : 'REFUSED', why: status === 0 ? '' : output }
}

/** A round of checks of a proxy. */
type Round = (parts: { folder: string; databaseUrl: string }) => Promise<Check[]>

const behind =
  (proxy: ProxyProgram): Round =>
  (parts) =>
    checkProxyDuties({ proxy, ...parts })

const PROXIES: readonly { proxy: ProxyProgram; probe: string; rounds: readonly Round[] }[] = [
  { proxy: NGINX, probe: '-v', rounds: [behind(NGINX), checkBroken] },
  { proxy: CADDY, probe: 'version', rounds: [behind(CADDY)] },
]

async function runProxies(): Promise<Result[]> {
  const isAnyHere = PROXIES.some(({ proxy, probe }) => isHere(proxy.name, probe))
  if (!isAnyHere)
    return PROXIES.map(({ proxy: { file, name } }) => ({ file, name, result: 'not here', why: '' }))
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
  return withFolder(runEach)
}

async function runEach(folder: string): Promise<Result[]> {
  const results: Result[] = []
  for (const { proxy, probe, rounds } of PROXIES) {
    const { file, name } = proxy
    if (!isHere(name, probe)) {
      results.push({ file, name, result: 'not here', why: '' })
      continue
    }
    for (const round of rounds) {
      const checks = await withServer((databaseUrl) => round({ folder, databaseUrl })).catch(failedCheck)
      for (const check of checks) {
        const result = check.why === '' ? 'accepted' : 'REFUSED'
        results.push({ file, name: `${name}: ${check.name}`, result, why: check.why })
      }
    }
  }
  return results
}

const failedCheck = (error: unknown): Check[] => [
  { name: 'it runs', why: error instanceof Error ? error.message : String(error) },
]

export const deployProof = defineProof({
  options: z.object({ keep: keepFlag() }),
  run: async () => {
    const results = [...READINGS.map(read), ...(await runProxies())]
    for (const { name, file, result, why } of results)
      console.log(`${result.padEnd(8)}  ${file}: ${name}${why === '' ? '' : `\n${why}`}`)
    const passed = results.every(({ result }) => result !== 'REFUSED')
    return { passed, result: { name: 'deploy', content: { passed, programs: results } } }
  },
})
