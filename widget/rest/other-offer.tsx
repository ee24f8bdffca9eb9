/** An offer of an earlier payment that is still open, because the shopper has begun another payment since. */
import { useEffect, useState } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import { isEmbedded, pageCookies } from '../embed.ts'
import { createApi } from '../flow/api.ts'
import type { FlowState } from '../flow/state.ts'
import { useRest } from '../parts/texts.ts'
import { forgetOffer, storedLanguage, storedOffer, storeOffer } from '../storage.ts'

/** Seconds after which an open offer is read again. */
const AGAIN_S = 30

const api = createApi(fetch.bind(globalThis), pageCookies)

/** Only this browser knows of the offer: the server must not lead one deposit's page to another's secret code. */
function useOtherOffer({ hash, payment }: FlowState): Payment | null {
  const [other, setOther] = useState<Payment | null>(null)
  const status = payment?.status
  useEffect(() => {
    if (status === 'pending') storeOffer(hash)
    else if (status !== undefined && status !== 'created') forgetOffer(hash)
  }, [hash, status])
  useEffect(() => {
    const known = storedOffer()
    setOther(null)
    if (status !== 'created' || known === null || known === hash) return
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      const answer = await api.payment(known, { language: storedLanguage() ?? 'en', etag: null, signal })
      if (signal.aborted) return
      const open = answer.kind === 'ok' && answer.body.status === 'pending' ? answer.body : null
      setOther(open)
      if (open === null && (answer.kind === 'ok' || answer.kind === 'refused')) return forgetOffer(known)
      timer = setTimeout(look, 1000 * Math.min(AGAIN_S, 1 + (open?.timeLeft ?? AGAIN_S)))
    }
    void look()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [hash, status])
  return other
}

/** Leads to that offer. */
export function OtherOffer({ state }: { state: FlowState }) {
  const { texts } = useRest()
  const other = useOtherOffer(state)
  if (other === null || state.modal.kind !== 'none') return null
  return (
    <p className="notice notice-offer">
      {texts.otherOffer(other.id)} {/* A frame shows one deposit only. */}
      <a
        className="link"
        href={`/deposit/${other.hash}`}
        {...(isEmbedded() && { target: '_blank', rel: 'noopener' })}
      >
        {texts.otherOfferOpen}
      </a>
    </p>
  )
}
