import { createProxy } from "holdfast/proxy";

export const dynamic = "force-dynamic";

const proxy = createProxy({
  profile: "runharvester",
  baseUrl: process.env.REPORTS_URL ?? "https://api.example.com",
  mount: "/api/reports",
  authorize: () => ({ headers: { authorization: `Bearer ${process.env.REPORTS_KEY}` } }),
});

export { proxy as DELETE, proxy as GET, proxy as POST };
