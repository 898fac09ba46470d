// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/tcp_connect.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

struct FreeAddresses {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

struct Lookup {
    int status = 0;
    Addresses list;
};

/// The resolver knows no deadline and cannot be stopped: it runs on a thread that is left to
/// itself when nobody waits for it any more.
Result<Addresses> lookUp(const QString& host, quint16 port, const Deadline& deadline, Wake& wake) {
    std::promise<Lookup> promise;
    std::future<Lookup> found = promise.get_future();
    std::thread([promise = std::move(promise), name = host.toStdString(),
                 service = std::to_string(port)]() mutable {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = AI_ADDRCONFIG;
        addrinfo* list = nullptr;
        int status = ::getaddrinfo(name.c_str(), service.c_str(), &hints, &list);
        if (status != 0) { // a machine with no network at all still has its loopback
            hints.ai_flags = AI_NUMERICHOST;
            if (::getaddrinfo(name.c_str(), service.c_str(), &hints, &list) == 0)
                status = 0;
        }
        promise.set_value({status, Addresses(list)});
    }).detach();
    while (found.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
        if (wake.isCancelled())
            return Error{ErrorCode::Failed, "stopped", host.toStdString(), ""};
        if (deadline.passed())
            return Error{
                ErrorCode::Connection, "its address was not found in time", host.toStdString(),
                "check the name and the network"};
    }
    Lookup result = found.get();
    if (result.status != 0)
        return Error{
            ErrorCode::Connection,
            std::string("its address is not known: ") + ::gai_strerror(result.status),
            host.toStdString(), "check the name and the network"};
    return std::move(result.list);
}

/// 0, or what went wrong as in errno.
int connectOne(int descriptor, const addrinfo& address, const Deadline& deadline, Wake& wake) {
    if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    for (;;) {
        const int events = waitFor(descriptor, POLLOUT, deadline.pollMs(), wake);
        if (events < 0)
            return ECANCELED;
        if (events == 0 && deadline.passed())
            return ETIMEDOUT;
        if (events == 0)
            continue;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }
}

} // namespace

Descriptor::~Descriptor() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

int waitFor(int descriptor, short events, int ms, Wake& wake) {
    if (wake.isCancelled())
        return -1;
    std::array<pollfd, 2> both{{{descriptor, events, 0}, {wake.descriptor(), POLLIN, 0}}};
    const int n = ::poll(both.data(), both.size(), ms);
    if (both[1].revents)
        wake.clear();
    if (wake.isCancelled())
        return -1;
    return n > 0 ? both[0].revents : 0;
}

Result<Descriptor>
tcpConnect(const QString& host, quint16 port, const Deadline& deadline, Wake& wake) {
    auto addresses = lookUp(host, port, deadline, wake);
    if (!addresses)
        return addresses.error();
    int why = ENETUNREACH;
    for (const addrinfo* at = addresses->get(); at; at = at->ai_next) {
        Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (socket.value() < 0)
            continue;
        why = connectOne(socket.value(), *at, deadline, wake);
        if (why == 0) {
            const int on = 1;
            ::setsockopt(socket.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            ::setsockopt(socket.value(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
            return socket;
        }
        if (why == ECANCELED)
            return Error{ErrorCode::Failed, "stopped", host.toStdString(), ""};
    }
    const char* mend = why == ECONNREFUSED
                           ? "check the port, and that an SSH server runs on the board"
                           : "check that the board is on and its address right";
    return Error{
        ErrorCode::Connection, std::string("no connection: ") + std::strerror(why),
        host.toStdString() + ":" + std::to_string(port), mend};
}

} // namespace shardscope::app
