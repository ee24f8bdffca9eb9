/** `npm run prove -- deploy`: checks each deployment file with the program that reads it. Names missing programs. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { defineProof, keepFlag } from '../proof.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const ROOT = join(DEPLOY, '..')

type Ran = { status: number | null; said: string }

function ran(command: string, args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: ROOT })
  return { status, said: `${stdout ?? ''}${stderr ?? ''}`.trim() }
}

type Program = {
  name: string
  file: string
  /** A command that exits with 0 if the program works on this machine. */
  probe: readonly string[]
  check(folder: string): Ran
}

const PROGRAMS: readonly Program[] = [
  {
    name: 'systemd-analyze',
    file: 'tradetill.service',
    probe: ['systemd-analyze', '--version'],
    check: () => ran('systemd-analyze', ['verify', '--man=no', join(DEPLOY, 'tradetill.service')]),
  },
  {
    name: 'systemd-analyze, of the vault',
    file: 'tradetill-vault.service',
    probe: ['systemd-analyze', '--version'],
    check: () => ran('systemd-analyze', ['verify', '--man=no', join(DEPLOY, 'tradetill-vault.service')]),
  },
  {
    name: 'caddy',
    file: 'Caddyfile',
    probe: ['caddy', 'version'],
    check: () => ran('caddy', ['validate', '--adapter', 'caddyfile', '--config', join(DEPLOY, 'Caddyfile')]),
  },
  { name: 'nginx', file: 'nginx.conf', probe: ['nginx', '-v'], check: checkNginx },
  {
    name: 'a container engine (docker)',
    file: 'Dockerfile',
    probe: ['docker', 'info'],
    check: () => build('Dockerfile'),
  },
  {
    name: 'a container engine (docker), of the demo',
    file: 'Dockerfile.demo',
    probe: ['docker', 'info'],
    check: () => build('Dockerfile.demo'),
  },
]

const build = (file: string): Ran =>
  ran('docker', ['build', '-f', join(DEPLOY, file), '-t', 'tradetill-proof', ROOT])

/** Uses a temporary certificate, and writes its logs into the folder. */
function checkNginx(folder: string): Ran {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=pay.example']
  const made = ran('openssl', [...request, '-keyout', key, '-out', certificate])
  if (made.status !== 0) return made
  const text = readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8')
    .replaceAll(/ssl_certificate .*;/g, `ssl_certificate ${certificate};`)
    .replaceAll(/ssl_certificate_key .*;/g, `ssl_certificate_key ${key};`)
    .replaceAll('/var/log/nginx', folder)
  writeFileSync(join(folder, 'nginx.conf'), `pid ${folder}/pid;\nevents {}\nhttp {\n${text}}\n`)
  return ran('nginx', ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')])
}

export const deployProof = defineProof({
  options: z.object({ keep: keepFlag() }),
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tradetill-deploy-'))
    try {
      const results = PROGRAMS.map((program) => ({ ...program, result: resultOf(program, folder) }))
      for (const { name, file, result } of results) console.log(`${result.padEnd(11)}  ${file}: ${name}`)
      const content = results.map(({ name, file, result }) => ({ name, file, result }))
      const passed = results.every(({ result }) => result !== 'REFUSED')
      return { passed, result: { name: 'deploy', content: { passed, programs: content } } }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
})

function resultOf({ probe, check }: Program, folder: string): 'taken' | 'REFUSED' | 'not here' {
  const [command = '', ...args] = probe
  if (ran(command, args).status !== 0) return 'not here'
  const { status, said } = check(folder)
  if (status !== 0) console.log(said)
  return status === 0 ? 'taken' : 'REFUSED'
}
