import { expect, it, vi } from 'vitest'
import { untilAnswering } from './till.ts'

it('the wait for a gateway fails as soon as the gateway has ended', async () => {
  // A second look would take the gateway for a running one that answers, so the first look must end the wait.
  const answered = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response())
  const gateway = {
    pid: 1,
    output: () => 'the port is taken',
    ended: Promise.resolve(1),
    hasEnded: vi.fn<() => boolean>().mockReturnValueOnce(true).mockReturnValue(false),
    interrupt: async () => 1,
    kill: async () => {},
  }
  await expect(untilAnswering({ url: 'http://localhost' }, gateway)).rejects.toThrow('the port is taken')
  answered.mockRestore()
})
