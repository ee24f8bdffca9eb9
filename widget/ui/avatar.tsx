import './avatar.css'
import { useState } from 'react'

/** A picture from Steam. If it fails to load, a plain tile stays. */
export function Avatar({ url, size }: { url: string; size: number }) {
  const [isBroken, setBroken] = useState(false)
  return isBroken ? (
    <span className="avatar avatar-missing" aria-hidden="true" />
  ) : (
    <img
      className="avatar"
      src={url}
      alt=""
      width={size}
      height={size}
      referrerPolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  )
}
